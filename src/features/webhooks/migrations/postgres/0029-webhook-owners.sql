-- Who saved a webhook last: account events are sent only as long as that user may read them.
ALTER TABLE webhooks ADD COLUMN owner_id BIGINT;
-- Of earlier ones, by the audit trail: whoever last said what is sent where.
UPDATE webhooks SET owner_id = (
  SELECT actor_id FROM audit
  WHERE outcome = 'success' AND event IN ('webhook_created', 'webhook_changed') AND (
    (event = 'webhook_created' AND changes::json #>> '{url,to}' = webhooks.url)
    OR (event = 'webhook_changed' AND CAST(changes::json #>> '{webhook,to}' AS BIGINT) = webhooks.id
      AND (changes::json #>> '{url,to}' IS NOT NULL OR changes::json #>> '{types,to}' IS NOT NULL)))
  ORDER BY at DESC, id DESC LIMIT 1);

-- Nodes of the previous release name no owner. Their entry in the audit trail follows in the same transaction.
CREATE FUNCTION set_webhook_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.event = 'webhook_created' THEN
    UPDATE webhooks SET owner_id = NEW.actor_id
      WHERE owner_id IS NULL AND id = (SELECT MAX(id) FROM webhooks WHERE url = NEW.changes::json #>> '{url,to}');
  ELSIF NEW.changes::json #> '{url}' IS NOT NULL OR NEW.changes::json #> '{types}' IS NOT NULL THEN
    UPDATE webhooks SET owner_id = NEW.actor_id WHERE id = (NEW.changes::json #>> '{webhook,to}')::BIGINT;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER webhooks_owned AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.event IN ('webhook_created', 'webhook_changed') AND NEW.outcome = 'success')
  EXECUTE FUNCTION set_webhook_owner();
