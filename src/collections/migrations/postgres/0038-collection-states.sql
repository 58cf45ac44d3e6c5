-- What is known of collections and their rows, by collection and part: `view` for what readers see, `values` for what is calculated.
CREATE TABLE collection_states (
  collection TEXT NOT NULL,
  part       TEXT NOT NULL,
  -- Of what the declaration says.
  hash       TEXT NOT NULL,
  -- The row up to which values were calculated, and the last one. NULL when that is done.
  done_to    BIGINT,
  last_id    BIGINT,
  PRIMARY KEY (collection, part)
);
