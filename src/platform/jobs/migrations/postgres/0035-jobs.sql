-- Jobs of features: when each is due, which node works on it, and how it went. Times are Unix seconds.
CREATE TABLE jobs (
  name         TEXT PRIMARY KEY,
  -- As it was declared: another one sets due_at anew.
  schedule     TEXT NOT NULL,
  due_at       BIGINT NOT NULL,
  holder       TEXT,
  held_until   BIGINT NOT NULL DEFAULT 0,
  started_at   BIGINT,
  finished_at  BIGINT,
  succeeded_at BIGINT,
  -- Of the last run. Null if it succeeded.
  error        TEXT,
  -- Since the last success.
  failures     INTEGER NOT NULL DEFAULT 0,
  -- Extended as long as a node knows the job.
  expires_at   BIGINT NOT NULL
);
CREATE INDEX jobs_expiry ON jobs (expires_at);
