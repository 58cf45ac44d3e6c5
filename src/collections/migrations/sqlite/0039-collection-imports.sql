-- How far imports of files into collections are.
CREATE TABLE collection_imports (
  -- A hash of the collection, the user and the content of the file.
  id          TEXT PRIMARY KEY,
  -- Processed, imported or rejected.
  records     INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  started_at  TEXT NOT NULL,
  finished_at TEXT
) WITHOUT ROWID;
