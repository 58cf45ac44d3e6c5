-- The name in lower case, code point by code point: what users are searched by. Neither engine can make it, so the
-- service fills in what is null.
ALTER TABLE users ADD COLUMN name_key TEXT;
CREATE INDEX users_without_key ON users (id) WHERE name_key IS NULL;
