-- WebAuthn credentials: only their public keys are kept.
CREATE TABLE passkeys (
  id            TEXT PRIMARY KEY,
  user_id       BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  -- In base64url, as authenticators present it.
  credential_id TEXT NOT NULL UNIQUE,
  -- A COSE key in base64url.
  public_key    TEXT NOT NULL,
  -- What the authenticator knows the user by, in base64url.
  user_handle   TEXT NOT NULL,
  -- The signature counter; it stays 0 where the authenticator has none.
  counter       BIGINT NOT NULL,
  -- A JSON list of how the authenticator is reached.
  transports    TEXT NOT NULL,
  -- singleDevice, or multiDevice where it can be synced.
  device_type   TEXT NOT NULL,
  backed_up     BOOLEAN NOT NULL,
  name          TEXT NOT NULL,
  created_at    TIMESTAMPTZ(3) NOT NULL,
  last_used_at  TIMESTAMPTZ(3)
);
CREATE INDEX passkeys_user_id ON passkeys (user_id);
