-- Who saved a webhook last: account events are sent only as long as that user may read them.
ALTER TABLE webhooks ADD COLUMN owner_id INTEGER;
-- Of earlier ones, by the audit trail: whoever last said what is sent where.
UPDATE webhooks SET owner_id = (
  SELECT actor_id FROM audit
  WHERE outcome = 'success' AND event IN ('webhook_created', 'webhook_changed') AND (
    (event = 'webhook_created' AND json_extract(changes, '$.url.to') = webhooks.url)
    OR (event = 'webhook_changed' AND CAST(json_extract(changes, '$.webhook.to') AS INTEGER) = webhooks.id
      AND (json_extract(changes, '$.url.to') IS NOT NULL OR json_extract(changes, '$.types.to') IS NOT NULL)))
  ORDER BY at DESC, id DESC LIMIT 1);
