-- What the audit trail is filtered by, each in the order of time (audit-orders.ts). Entries that name no user, and the many
-- that succeeded, are left out where nobody looks for them.
CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_event ON audit (event, at, id);
CREATE INDEX audit_by_user ON audit (user_id, at, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_by_actor ON audit (actor_id, at, id) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_by_address ON audit (address, at, id);
CREATE INDEX audit_by_outcome ON audit (outcome, at, id) WHERE outcome <> 'success';

-- The orders of users (user-orders.ts), code point by code point. The others find the few users of a state.
CREATE INDEX users_by_email ON users (email COLLATE "C", id);
CREATE INDEX users_by_name ON users (name_key COLLATE "C", id);
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;
CREATE INDEX login_attempts_locked ON login_attempts (locked_until) WHERE locked_until IS NOT NULL;
