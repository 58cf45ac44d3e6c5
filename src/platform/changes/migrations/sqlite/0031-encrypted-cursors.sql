-- The entries of one topic, so that what others log costs its readers nothing: see docs/decisions/0019-change-log.md.
CREATE INDEX changes_topic ON changes (topic, id);

-- The newest entry of each topic that retention has removed. The topic '' is all of what it removed before this table.
CREATE TABLE change_removals (
  topic    TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO change_removals SELECT '', MIN(id) - 1 FROM changes HAVING MIN(id) > 1;

-- One row. Nodes of the release before read decimal cursors only, so they are encrypted once none of these is left.
CREATE TABLE change_cursors (
  id           INTEGER PRIMARY KEY,
  is_encrypted BOOLEAN NOT NULL,
  -- The last position that a decimal cursor may name. NULL until cursors are encrypted.
  plain_until  INTEGER
);
-- A SQLite file has one node.
INSERT INTO change_cursors SELECT 1, TRUE, COALESCE(MAX(id), 0) FROM changes;

-- NULL for a node of the release before.
ALTER TABLE service_nodes ADD COLUMN reads_encrypted_cursors BOOLEAN;
