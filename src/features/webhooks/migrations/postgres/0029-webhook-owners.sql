-- Who saved a webhook last: account events are sent only as long as that user may read them.
ALTER TABLE webhooks ADD COLUMN owner_id BIGINT;
-- Of earlier ones, whoever created them, by the audit trail.
UPDATE webhooks SET owner_id = (
  SELECT actor_id FROM audit
  WHERE event = 'webhook_created' AND outcome = 'success' AND changes::json #>> '{url,to}' = webhooks.url
  ORDER BY at DESC, id DESC LIMIT 1);

-- Nodes of the previous release name no owner. Their entry in the audit trail follows in the same transaction.
CREATE FUNCTION set_webhook_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhooks SET owner_id = NEW.actor_id
    WHERE owner_id IS NULL AND id = (SELECT MAX(id) FROM webhooks WHERE url = NEW.changes::json #>> '{url,to}');
  RETURN NULL;
END $$;
CREATE TRIGGER webhooks_owned AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.event = 'webhook_created' AND NEW.outcome = 'success') EXECUTE FUNCTION set_webhook_owner();
