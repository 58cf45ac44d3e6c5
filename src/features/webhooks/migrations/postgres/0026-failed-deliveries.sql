-- The few that failed, for the list of them.
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, id) WHERE status = 'failed';
