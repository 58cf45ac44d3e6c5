-- Who did it, where that is proven: by a token, a password or a reset link. Null for the command line, for attempts
-- that failed, and for what happens by itself.
ALTER TABLE audit ADD COLUMN actor_id INTEGER;
-- What it changed: {"roles": {"from": ["viewer"], "to": ["editor"]}}
ALTER TABLE audit ADD COLUMN changes TEXT;

-- The actor stood in the outcome.
UPDATE audit SET actor_id = CAST(substr(outcome, 18) AS INTEGER), outcome = 'success'
  WHERE outcome LIKE 'success, by user %';
UPDATE audit SET outcome = 'success' WHERE outcome = 'success, by the command line';
UPDATE audit SET actor_id = user_id
  WHERE outcome = 'success'
    AND event NOT IN ('lock', 'unlock', 'password_forgot', 'roles_changed', '2fa_reset', 'sessions_ended');

-- Old rows are removed by it.
CREATE INDEX audit_at ON audit (at);
