-- Endpoints that are told what has happened.
CREATE TABLE webhooks (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  url             TEXT NOT NULL,
  -- A JSON list, such as ["product.*"].
  types           TEXT NOT NULL,
  description     TEXT NOT NULL,
  -- Encrypted.
  secret          TEXT NOT NULL,
  -- Signs along until then (Unix seconds).
  previous_secret TEXT,
  previous_until  INTEGER,
  -- The last entry of the change log that is done.
  position        INTEGER NOT NULL,
  -- Changes with every edit, so that whoever delivers begins anew.
  revision        INTEGER NOT NULL DEFAULT 1,
  -- Of consecutive attempts. Times in milliseconds since 1970.
  failures        INTEGER NOT NULL DEFAULT 0,
  failing_since   INTEGER,
  next_attempt_at INTEGER,
  -- NULL while it is on.
  off_since       TEXT,
  -- 'failures' or 'person'.
  off_reason      TEXT,
  created_at      TEXT NOT NULL,
  updated_at      TEXT NOT NULL
);

-- What was sent, one row per message. Rows of deleted endpoints expire.
CREATE TABLE webhook_deliveries (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id      INTEGER NOT NULL,
  -- The header webhook-id.
  message_id      TEXT NOT NULL,
  -- The entry of the change log; NULL for a test.
  change_id       INTEGER,
  type            TEXT NOT NULL,
  -- 'delivered' or 'failed', by the last attempt.
  status          TEXT NOT NULL,
  attempts        INTEGER NOT NULL,
  -- NULL if there was no answer; error then says why.
  response_status INTEGER,
  response        TEXT NOT NULL,
  error           TEXT,
  duration_ms     INTEGER NOT NULL,
  created_at      TEXT NOT NULL,
  attempted_at    TEXT NOT NULL,
  expires_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX webhook_deliveries_message ON webhook_deliveries (webhook_id, message_id);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_expires_at ON webhook_deliveries (expires_at);

-- Entries of the audit trail that are also entries of the change log, so that webhooks tell of them.
CREATE TABLE account_events (
  event   TEXT NOT NULL,
  outcome TEXT NOT NULL,
  -- The same as in account-events.ts.
  type    TEXT NOT NULL,
  PRIMARY KEY (event, outcome)
) WITHOUT ROWID;
INSERT INTO account_events VALUES
  ('register', 'success', 'user.registered'),
  ('set_up', 'success', 'user.registered'),
  ('user_invited', 'success', 'user.invited'),
  ('email_verified', 'success', 'user.email_verified'),
  ('name_change', 'success', 'user.updated'),
  ('email_change', 'success', 'user.updated'),
  ('user_changed', 'success', 'user.updated'),
  ('roles_changed', 'success', 'user.roles_changed'),
  ('lock', 'success', 'user.locked'),
  ('unlock', 'success', 'user.unlocked'),
  ('user_disabled', 'success', 'user.disabled'),
  ('user_enabled', 'success', 'user.enabled'),
  ('user_deleted', 'success', 'user.deleted'),
  ('account_deleted', 'success', 'user.deleted'),
  ('password_change', 'success', 'user.password_changed'),
  ('password_reset', 'success', 'user.password_reset'),
  ('2fa_enable', 'success', 'user.two_factor_enabled'),
  ('2fa_disable', 'success', 'user.two_factor_disabled'),
  ('2fa_reset', 'success', 'user.two_factor_disabled'),
  ('passkey_added', 'success', 'user.passkey_added'),
  ('passkey_removed', 'success', 'user.passkey_removed'),
  ('api_key_created', 'success', 'user.api_key_created'),
  ('api_key_ended', 'success', 'user.api_key_ended'),
  ('refresh', 'reuse', 'session.reuse_detected');

-- The most frequent ones, which are not in the table, cost nothing.
CREATE TRIGGER audit_logged AFTER INSERT ON audit
WHEN new.user_id IS NOT NULL AND new.event <> 'login' AND (new.event <> 'refresh' OR new.outcome = 'reuse') BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    SELECT 'accounts', type, new.user_id, new.actor_id, new.at, json_object(
      'user', json_object(
        'id', new.user_id,
        'email', COALESCE((SELECT email FROM users WHERE id = new.user_id), json_extract(new.changes, '$.email.from')),
        'name', (SELECT name FROM users WHERE id = new.user_id)),
      'actor_id', new.actor_id, 'address', new.address, 'user_agent', new.user_agent, 'changes', json(new.changes))
    FROM account_events WHERE event = new.event AND outcome = new.outcome;
END;
