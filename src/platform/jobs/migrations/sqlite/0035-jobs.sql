-- Jobs of features: when each is due, which node works on it, and how it went. Times are Unix seconds.
CREATE TABLE jobs (
  name         TEXT PRIMARY KEY,
  -- As it was declared: another one sets due_at anew.
  schedule     TEXT NOT NULL,
  due_at       INTEGER NOT NULL,
  holder       TEXT,
  held_until   INTEGER NOT NULL DEFAULT 0,
  started_at   INTEGER,
  finished_at  INTEGER,
  succeeded_at INTEGER,
  -- Of the last run. Null if it succeeded.
  error        TEXT,
  -- Since the last success.
  failures     INTEGER NOT NULL DEFAULT 0,
  -- Extended as long as a node knows the job.
  expires_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX jobs_expiry ON jobs (expires_at);
