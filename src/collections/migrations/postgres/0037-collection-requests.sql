-- Requests with an idempotency key that have created a row of a collection.
CREATE TABLE collection_requests (
  -- A hash of the collection, the user and the key.
  id         TEXT PRIMARY KEY,
  body_hash  TEXT NOT NULL,
  row_id     BIGINT,
  created_at TIMESTAMPTZ(3) NOT NULL,
  expires_at BIGINT NOT NULL,
  -- The row as it was created, as JSON.
  "values"   TEXT NOT NULL
);
CREATE INDEX collection_requests_expiry ON collection_requests (expires_at);
