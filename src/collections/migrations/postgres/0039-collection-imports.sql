-- How far imports of files into collections are.
CREATE TABLE collection_imports (
  -- A hash of the collection, the user and the content of the file.
  id          TEXT PRIMARY KEY,
  -- Processed, imported or rejected.
  records     BIGINT NOT NULL,
  rejected    BIGINT NOT NULL,
  started_at  TIMESTAMPTZ(3) NOT NULL,
  finished_at TIMESTAMPTZ(3)
);
