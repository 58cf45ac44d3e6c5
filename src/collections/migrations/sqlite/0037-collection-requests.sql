-- Requests with an idempotency key that have created a row of a collection.
CREATE TABLE collection_requests (
  -- A hash of the collection, the user and the key.
  id         TEXT PRIMARY KEY,
  body_hash  TEXT NOT NULL,
  row_id     INTEGER,
  created_at TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The row as it was created, as JSON.
  "values"   TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX collection_requests_expiry ON collection_requests (expires_at);
