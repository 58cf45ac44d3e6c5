-- Scheduled backups, one row each; the newest are kept. Times are Unix seconds.
CREATE TABLE backups (
  id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at  BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  -- Null where none was written.
  file        TEXT,
  bytes       BIGINT,
  row_count   BIGINT,
  -- Restored and compared.
  proved      BOOLEAN NOT NULL,
  error       TEXT
);
-- One row, which a node changes to make the next backup: of several, one finds it due. A holder that has died lets it go
-- by not renewing it.
CREATE TABLE backup_lease (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  holder     TEXT,
  held_until BIGINT NOT NULL DEFAULT 0,
  started_at BIGINT,
  -- Set after a failure.
  retry_at   BIGINT
);
INSERT INTO backup_lease (id) VALUES (1);
