CREATE TABLE products (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL,
  -- The name in lower case, code point by code point: what is searched and sorted by.
  name_key    TEXT NOT NULL,
  slug        TEXT NOT NULL,
  description TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  category    TEXT NOT NULL DEFAULT 'general',
  active      BOOLEAN NOT NULL DEFAULT TRUE,
  stock       INTEGER NOT NULL DEFAULT 0,
  -- Grows with every change.
  version     INTEGER NOT NULL DEFAULT 1,
  deleted_at  TEXT,
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL
);
CREATE INDEX products_slug ON products (slug);
CREATE INDEX products_category_active ON products (category, active, name_key, id) WHERE deleted_at IS NULL;
CREATE INDEX products_name ON products (name_key, id) WHERE active = TRUE AND deleted_at IS NULL;
-- Pages are read off it, so that a long row of deleted products costs nothing.
CREATE INDEX products_live ON products (id) WHERE deleted_at IS NULL;

-- Every three characters in a row of a name that can be found. Two characters of padding make one for each character
-- of the name, so that a shorter term is the beginning of one.
CREATE VIRTUAL TABLE product_grams USING fts5 (
  name_key, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE product_gram_rows USING fts5vocab (product_grams, instance);

CREATE TRIGGER products_indexed AFTER INSERT ON products WHEN new.active AND new.deleted_at IS NULL BEGIN
  INSERT INTO product_grams (rowid, name_key) VALUES (new.id, new.name_key || char(1114111, 1114111));
END;
CREATE TRIGGER products_reindexed AFTER UPDATE OF name_key, active, deleted_at ON products
WHEN old.name_key <> new.name_key OR old.active <> new.active OR old.deleted_at IS NOT new.deleted_at BEGIN
  DELETE FROM product_grams WHERE rowid = old.id;
  INSERT INTO product_grams (rowid, name_key)
    SELECT new.id, new.name_key || char(1114111, 1114111) WHERE new.active AND new.deleted_at IS NULL;
END;
CREATE TRIGGER products_unindexed AFTER DELETE ON products BEGIN
  DELETE FROM product_grams WHERE rowid = old.id;
END;

CREATE TRIGGER products_counted AFTER INSERT ON products WHEN new.deleted_at IS NULL BEGIN
  INSERT INTO kept_counts
    VALUES ('products', 7, new.id >> 7, 1), ('products', 14, new.id >> 14, 1), ('products', 21, new.id >> 21, 1)
    ON CONFLICT (list, level, block) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER products_uncounted AFTER UPDATE OF deleted_at ON products
WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  UPDATE kept_counts SET live = live - 1
    WHERE list = 'products' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;
CREATE TRIGGER products_recounted AFTER UPDATE OF deleted_at ON products
WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  UPDATE kept_counts SET live = live + 1
    WHERE list = 'products' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;
CREATE TRIGGER products_removed AFTER DELETE ON products WHEN old.deleted_at IS NULL BEGIN
  UPDATE kept_counts SET live = live - 1
    WHERE list = 'products' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;

-- Which product a user's Idempotency-Key made. The id is a hash of both.
CREATE TABLE idempotency_keys (
  id         TEXT PRIMARY KEY,
  body_hash  TEXT NOT NULL,
  product_id INTEGER,
  created_at TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- How far the import of a file has come, so that one that was interrupted goes on where it stopped. The id tells the
-- file by its content.
CREATE TABLE product_imports (
  id          TEXT PRIMARY KEY,
  records     INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  started_at  TEXT NOT NULL,
  finished_at TEXT
) WITHOUT ROWID;
