-- Null while the user may sign in.
ALTER TABLE users ADD COLUMN disabled_at TIMESTAMPTZ(3);
-- Null until the owner of the mailbox has followed a link that was sent there.
ALTER TABLE users ADD COLUMN email_verified_at TIMESTAMPTZ(3);
