-- Times that only the service compares are Unix seconds; times that people read are ISO 8601.

-- A token family: one sign-in on one device, and its one live refresh token.
CREATE TABLE sessions (
  id                  TEXT PRIMARY KEY,
  user_id             INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  live_refresh_id     TEXT NOT NULL,
  -- What the live pair was signed from, so that a retried refresh can get it again.
  pair                TEXT NOT NULL,
  previous_refresh_id TEXT,
  retry_key_hash      TEXT,
  rotated_at          INTEGER,
  address             TEXT NOT NULL,
  user_agent          TEXT NOT NULL,
  created_at          TEXT NOT NULL,
  last_used_at        TEXT NOT NULL,
  ends_at             INTEGER NOT NULL,
  expires_at          INTEGER NOT NULL,
  revoked_at          INTEGER
);
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

-- Access tokens that were signed out one by one.
CREATE TABLE revoked_tokens (
  id         TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
);
CREATE INDEX revoked_tokens_expires_at ON revoked_tokens (expires_at);

-- What works once and has been used: challenges, and the time steps of codes.
CREATE TABLE used_once (
  id         TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
);
CREATE INDEX used_once_expires_at ON used_once (expires_at);

-- By normalised email, whether or not anybody has it.
CREATE TABLE login_attempts (
  email           TEXT PRIMARY KEY,
  failures        INTEGER NOT NULL,
  last_failure_at INTEGER NOT NULL,
  locked_until    INTEGER,
  expires_at      INTEGER NOT NULL
);
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  user_id    INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
);
CREATE INDEX password_resets_user_id ON password_resets (user_id);
CREATE INDEX password_resets_expires_at ON password_resets (expires_at);

CREATE TABLE two_factor (
  user_id   INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  -- Encrypted.
  secret    TEXT NOT NULL,
  enabled   BOOLEAN NOT NULL DEFAULT FALSE,
  set_up_at INTEGER NOT NULL
);

CREATE TABLE recovery_codes (
  user_id   INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE audit (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  at         TEXT NOT NULL,
  event      TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  user_id    INTEGER,
  address    TEXT NOT NULL,
  user_agent TEXT NOT NULL
);
