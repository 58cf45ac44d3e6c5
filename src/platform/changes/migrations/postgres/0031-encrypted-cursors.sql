-- The entries of one topic, so that what others log costs its readers nothing: see docs/decisions/0019-change-log.md.
-- concurrently
CREATE INDEX IF NOT EXISTS changes_topic ON changes (topic, id);

-- The newest entry of each topic that retention has removed. The topic '' is all of what it removed before this table.
CREATE TABLE change_removals (
  topic    TEXT PRIMARY KEY,
  position BIGINT NOT NULL
);
INSERT INTO change_removals SELECT '', MIN(id) - 1 FROM changes HAVING MIN(id) > 1;

-- One row. Nodes of the release before read decimal cursors only, so they are encrypted once none of these is left.
CREATE TABLE change_cursors (
  id           INTEGER PRIMARY KEY,
  is_encrypted BOOLEAN NOT NULL,
  -- The last position that a decimal cursor may name. NULL until cursors are encrypted.
  plain_until  BIGINT
);
INSERT INTO change_cursors
  SELECT 1, NOT is_old_node_there, CASE WHEN NOT is_old_node_there THEN (SELECT COALESCE(MAX(id), 0) FROM changes) END
  FROM (
    SELECT EXISTS (SELECT 1 FROM service_nodes WHERE expires_at > extract(epoch FROM now())) AS is_old_node_there
  ) AS nodes;

-- NULL for a node of the release before.
ALTER TABLE service_nodes ADD COLUMN reads_encrypted_cursors BOOLEAN;
