CREATE TABLE users (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email         VARCHAR(255) NOT NULL UNIQUE,
  name          VARCHAR(255) NOT NULL DEFAULT '',
  password_hash VARCHAR(255) NOT NULL,
  -- Tokens carry the version they were made under; raising it ends them all.
  token_version INTEGER NOT NULL DEFAULT 1,
  -- A JSON list of role names.
  roles         TEXT NOT NULL DEFAULT '[]',
  registered_from TEXT,
  created_at    TIMESTAMPTZ(3) NOT NULL,
  updated_at    TIMESTAMPTZ(3) NOT NULL
);
