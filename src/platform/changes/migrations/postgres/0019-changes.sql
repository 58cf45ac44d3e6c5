-- What was committed, in order: see docs/decisions/0019-change-log.md. An entry is written in the transaction of its change.
-- Ids are given out before the commit, so a reader must know which may still be missing: see settled-position.ts.
CREATE TABLE changes (
  id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Whose entries, such as products.
  topic     TEXT NOT NULL,
  -- Such as product.created.
  type      TEXT NOT NULL,
  entity_id BIGINT,
  -- The user who made the change; NULL where nobody was signed in.
  actor_id  BIGINT,
  at        TIMESTAMPTZ(3) NOT NULL,
  -- What has changed, as JSON.
  data      TEXT NOT NULL
);
-- A cursor names an entry. This one is named where nothing has changed yet.
INSERT INTO changes (topic, type, at, data) VALUES ('log', 'log.begun', '1970-01-01T00:00:00.000Z', '{}');

-- How far each consumer inside of the service has come, and which node works for it.
CREATE TABLE change_consumers (
  name       TEXT PRIMARY KEY,
  -- The last entry that is done.
  position   BIGINT NOT NULL,
  holder     TEXT,
  -- In milliseconds since 1970.
  held_until BIGINT NOT NULL
);
