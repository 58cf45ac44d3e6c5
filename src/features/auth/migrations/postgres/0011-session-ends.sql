-- Why a session ended, for its owner; null while it lives and where it expired.
ALTER TABLE sessions ADD COLUMN ended_reason TEXT;
-- The known device that it was made from; ended with it.
ALTER TABLE sessions ADD COLUMN device_id TEXT;
-- Counters of known devices and of sessions belong to a user; those of strangers are kept by email alone.
ALTER TABLE login_attempts ADD COLUMN user_id BIGINT;
CREATE INDEX login_attempts_user_id ON login_attempts (user_id) WHERE user_id IS NOT NULL;
