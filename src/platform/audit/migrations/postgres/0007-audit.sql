-- Who did it, where that is proven: by a token, a password or a reset link. Null for the command line, for attempts
-- that failed, and for what happens by itself.
ALTER TABLE audit ADD COLUMN actor_id BIGINT;
-- What it changed: {"roles": {"from": ["viewer"], "to": ["editor"]}}
ALTER TABLE audit ADD COLUMN changes TEXT;

-- Rows from before that the service brings up to date in the background, since that may take long: those up to last_id,
-- of which the ones up to done_to are done. Gone when all are.
CREATE TABLE backfills (
  name    TEXT PRIMARY KEY,
  done_to BIGINT NOT NULL,
  last_id BIGINT NOT NULL
);
-- The actor stands in the outcome.
INSERT INTO backfills SELECT 'audit_actors', 0, id FROM audit ORDER BY id DESC LIMIT 1;
