-- Who saved a webhook last: account events are sent only as long as that user may read them.
ALTER TABLE webhooks ADD COLUMN owner_id INTEGER;
-- Of earlier ones, whoever created them, by the audit trail.
UPDATE webhooks SET owner_id = (
  SELECT actor_id FROM audit
  WHERE event = 'webhook_created' AND outcome = 'success' AND json_extract(changes, '$.url.to') = webhooks.url
  ORDER BY at DESC, id DESC LIMIT 1);
