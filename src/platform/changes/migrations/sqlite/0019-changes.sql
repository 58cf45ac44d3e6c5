-- What was committed, in order: see docs/decisions/0019-change-log.md. An entry is written in the transaction of its change.
-- The order of ids is the order of commits, because SQLite has one writer at a time.
CREATE TABLE changes (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Whose entries, such as products.
  topic     TEXT NOT NULL,
  -- Such as product.created.
  type      TEXT NOT NULL,
  entity_id INTEGER,
  -- The user who made the change; NULL where nobody was signed in.
  actor_id  INTEGER,
  at        TEXT NOT NULL,
  -- What has changed, as JSON. May be a megabyte, so it is last.
  data      TEXT NOT NULL
);
-- A cursor names an entry. This one is named where nothing has changed yet.
INSERT INTO changes (topic, type, at, data) VALUES ('log', 'log.begun', '1970-01-01T00:00:00.000Z', '{}');

-- How far each consumer inside of the service has come, and which node works for it.
CREATE TABLE change_consumers (
  name       TEXT PRIMARY KEY,
  -- The last entry that is done.
  position   INTEGER NOT NULL,
  holder     TEXT,
  -- In milliseconds since 1970.
  held_until INTEGER NOT NULL
) WITHOUT ROWID;
