-- Tokens in mails are no longer only for resets: each has its purpose.
ALTER TABLE password_resets RENAME TO mailed_tokens;
ALTER TABLE mailed_tokens ADD COLUMN purpose TEXT NOT NULL DEFAULT 'reset';
-- The new address, for a change of email.
ALTER TABLE mailed_tokens ADD COLUMN address TEXT;
