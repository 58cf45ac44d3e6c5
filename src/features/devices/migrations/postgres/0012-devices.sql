-- Devices that completed a login, each known by the hash of a token: their failures are not counted with strangers'.
CREATE TABLE devices (
  id           TEXT PRIMARY KEY,
  user_id      BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  token_hash   TEXT NOT NULL UNIQUE,
  address      TEXT NOT NULL,
  user_agent   TEXT NOT NULL,
  created_at   TIMESTAMPTZ(3) NOT NULL,
  last_used_at TIMESTAMPTZ(3) NOT NULL,
  expires_at   BIGINT NOT NULL
);
CREATE INDEX devices_user_id ON devices (user_id);
CREATE INDEX devices_expires_at ON devices (expires_at);

-- Users who were told that strangers locked their account, and until when they are not told again.
CREATE TABLE lock_notices (
  user_id    BIGINT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  expires_at BIGINT NOT NULL
);
CREATE INDEX lock_notices_expires_at ON lock_notices (expires_at);

-- A session that has ended stays for a while, for its owner: live and ended ones of a user are found by their end.
CREATE INDEX sessions_user_id_expires_at ON sessions (user_id, expires_at);
DROP INDEX sessions_user_id;
