-- Keys of programs: only their hash is kept.
CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  user_id      BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  key_hash     TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  -- The first and the last characters, by which people know it again.
  hint         TEXT NOT NULL,
  -- A JSON list; null stands for all that the user may.
  permissions  TEXT,
  created_at   TIMESTAMPTZ(3) NOT NULL,
  last_used_at TIMESTAMPTZ(3),
  -- From then on it is refused; null: never.
  ends_at      BIGINT,
  -- When the row is removed, a while after its end.
  expires_at   BIGINT
);
CREATE INDEX api_keys_user_id ON api_keys (user_id);
CREATE INDEX api_keys_expires_at ON api_keys (expires_at);
