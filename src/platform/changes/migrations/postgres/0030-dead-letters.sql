-- Which entry a consumer fails for now, and how often it has, so that a restart does not begin again.
ALTER TABLE change_consumers ADD COLUMN failed_change BIGINT;
ALTER TABLE change_consumers ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;

-- Changes that a durable listener has given up.
CREATE TABLE dead_letters (
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  listener   TEXT NOT NULL,
  change_id  BIGINT NOT NULL,
  type       TEXT NOT NULL,
  entity_id  BIGINT,
  -- The entry of the change log, as JSON: the log may no longer keep it.
  entry      TEXT NOT NULL,
  attempts   INTEGER NOT NULL,
  error      TEXT NOT NULL,
  failed_at  TIMESTAMPTZ(3) NOT NULL,
  -- In Unix seconds: when a person asked for another attempt, or when another node may take it over. NULL if nobody has.
  retry_at   BIGINT,
  expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX dead_letters_change ON dead_letters (listener, change_id);
CREATE INDEX dead_letters_retry_at ON dead_letters (listener, retry_at, id) WHERE retry_at IS NOT NULL;
CREATE INDEX dead_letters_expires_at ON dead_letters (expires_at);
