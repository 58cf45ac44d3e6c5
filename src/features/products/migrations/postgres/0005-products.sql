CREATE TABLE products (
  id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        VARCHAR(255) NOT NULL,
  -- The name in lower case, code point by code point: what is searched and sorted by.
  name_key    TEXT COLLATE "C" NOT NULL,
  slug        VARCHAR(300) NOT NULL,
  description TEXT NOT NULL,
  price_cents BIGINT NOT NULL,
  category    VARCHAR(100) NOT NULL DEFAULT 'general',
  active      BOOLEAN NOT NULL DEFAULT TRUE,
  stock       INTEGER NOT NULL DEFAULT 0,
  -- Grows with every change.
  version     BIGINT NOT NULL DEFAULT 1,
  deleted_at  TIMESTAMPTZ(3),
  created_at  TIMESTAMPTZ(3) NOT NULL,
  updated_at  TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX products_slug ON products (slug);
CREATE INDEX products_category_active ON products (category, active, name_key, id) WHERE deleted_at IS NULL;
CREATE INDEX products_name ON products (name_key, id) WHERE active = TRUE AND deleted_at IS NULL;
-- Pages are read off it, so that a long row of deleted products costs nothing.
CREATE INDEX products_live ON products (id) WHERE deleted_at IS NULL;

-- Every three characters in a row of a name. Two characters of padding make one for each character of the name, so
-- that a shorter term is the beginning of one, which a tsquery can ask for. pg_trgm cannot: it knows words only.
-- Of all products, and dear by its cost: so the planner never checks row by row what the index knows.
CREATE FUNCTION name_grams(name TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT COST 1000000
RETURN array_to_tsvector(ARRAY(
  SELECT substr(name || repeat(chr(1114111), 2), place, 3) FROM generate_series(1, length(name)) AS place
));
CREATE INDEX products_name_grams ON products USING gin (name_grams(name_key)) WITH (gin_pending_list_limit = 256);

CREATE FUNCTION count_new_products() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO kept_count_changes
    SELECT 'products', id >> 7, count(*) FROM new_rows WHERE deleted_at IS NULL GROUP BY 1, 2;
  RETURN NULL;
END $$;

CREATE TRIGGER products_counted AFTER INSERT ON products
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_products();
CREATE TRIGGER products_forgotten AFTER TRUNCATE ON products FOR EACH STATEMENT EXECUTE FUNCTION forget_counts();
CREATE TRIGGER products_uncounted AFTER UPDATE OF deleted_at ON products
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION count_gone_row();
CREATE TRIGGER products_recounted AFTER UPDATE OF deleted_at ON products
  FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) EXECUTE FUNCTION count_returned_row();
CREATE TRIGGER products_removed AFTER DELETE ON products
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION count_gone_row();

-- Which product a user's Idempotency-Key made. The id is a hash of both.
CREATE TABLE idempotency_keys (
  id         TEXT PRIMARY KEY,
  body_hash  TEXT NOT NULL,
  product_id BIGINT,
  created_at TIMESTAMPTZ(3) NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- How far the import of a file has come, so that one that was interrupted goes on where it stopped. The id tells the
-- file by its content.
CREATE TABLE product_imports (
  id          TEXT PRIMARY KEY,
  records     BIGINT NOT NULL,
  rejected    BIGINT NOT NULL,
  started_at  TIMESTAMPTZ(3) NOT NULL,
  finished_at TIMESTAMPTZ(3)
);
