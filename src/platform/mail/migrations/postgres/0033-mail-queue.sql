-- Mail that has not been delivered yet. Rows are deleted once the mail server has accepted them.
CREATE TABLE queued_mails (
  -- Random. Also the Message-ID, so that a mail that is sent twice can be recognised.
  id          BIGINT PRIMARY KEY,
  kind        TEXT NOT NULL,
  user_id     BIGINT,
  -- Encrypted: it may hold a token.
  message     TEXT NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,
  -- In Unix seconds: the next attempt. Moved ahead while a node works on the mail.
  due_at      BIGINT NOT NULL,
  -- In Unix seconds: given up from then on.
  valid_until BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL
);
CREATE INDEX queued_mails_due_at ON queued_mails (due_at);
CREATE INDEX queued_mails_user ON queued_mails (user_id);
CREATE INDEX queued_mails_expires_at ON queued_mails (expires_at);
