-- Sign-ins by day, in UTC: see docs/decisions/0023-overview.md.
CREATE TABLE sign_in_days (
  -- Such as 2026-11-16.
  day      TEXT PRIMARY KEY,
  sign_ins INTEGER NOT NULL,
  failures INTEGER NOT NULL
);
-- One row: the last entry of the audit trail that is counted. None before the first ones are.
CREATE TABLE sign_in_progress (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  audit_id INTEGER NOT NULL
);

-- The nodes that run on this database. Only on PostgreSQL, because a SQLite file has one.
CREATE TABLE service_nodes (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  threads    INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  seen_at    TEXT NOT NULL,
  -- Unix seconds. A node that is gone does not renew it.
  expires_at INTEGER NOT NULL
);
CREATE INDEX service_nodes_expires_at ON service_nodes (expires_at);
