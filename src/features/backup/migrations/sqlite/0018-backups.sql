-- Scheduled backups, one row each; the newest are kept. Times are Unix seconds.
CREATE TABLE backups (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  -- Null where none was written.
  file        TEXT,
  bytes       INTEGER,
  row_count   INTEGER,
  -- Restored and compared.
  proved      BOOLEAN NOT NULL,
  error       TEXT
);
-- One row, which a node changes to make the next backup: of several, one finds it due. A holder that has died lets it go
-- by not renewing it.
CREATE TABLE backup_lease (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  holder     TEXT,
  held_until INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER,
  -- Set after a failure.
  retry_at   INTEGER
);
INSERT INTO backup_lease (id) VALUES (1);
