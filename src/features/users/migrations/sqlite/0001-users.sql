CREATE TABLE users (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  email         TEXT NOT NULL UNIQUE,
  name          TEXT NOT NULL DEFAULT '',
  password_hash TEXT NOT NULL,
  -- Tokens carry the version they were made under; raising it ends them all.
  token_version INTEGER NOT NULL DEFAULT 1,
  -- A JSON list of role names.
  roles         TEXT NOT NULL DEFAULT '[]',
  registered_from TEXT,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL
);
