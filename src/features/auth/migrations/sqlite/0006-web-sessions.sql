-- Browsers that are signed in: the hash of what their cookie holds, and the token family that it stands for.
CREATE TABLE web_sessions (
  id_hash       TEXT PRIMARY KEY,
  family        TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  token_version INTEGER NOT NULL,
  used_at       INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_sessions_family ON web_sessions (family);
CREATE INDEX web_sessions_expires_at ON web_sessions (expires_at);
