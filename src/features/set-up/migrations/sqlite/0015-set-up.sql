-- Links that make the first administrator, as hashes. Using one deletes it.
CREATE TABLE setup_tokens (
  token_hash TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX setup_tokens_expires_at ON setup_tokens (expires_at);
-- One row, which every batch of the set-up locks first: of two set-ups at once, one comes second.
CREATE TABLE set_up (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  finished_at INTEGER,
  user_id     INTEGER REFERENCES users(id) ON DELETE SET NULL,
  samples_at  INTEGER
);
INSERT INTO set_up (id) VALUES (1);
