-- The grams of inactive products, which sorted lists search too. In an index of their own, so that the search of active ones
-- stays as fast however many there are.
CREATE VIRTUAL TABLE inactive_product_grams USING fts5 (
  name_key, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE inactive_product_gram_rows USING fts5vocab (inactive_product_grams, instance);

INSERT INTO inactive_product_grams (rowid, name_key)
  SELECT id, name_key || char(1114111, 1114111) FROM products WHERE active = FALSE AND deleted_at IS NULL;

CREATE TRIGGER inactive_products_indexed AFTER INSERT ON products WHEN NOT new.active AND new.deleted_at IS NULL BEGIN
  INSERT INTO inactive_product_grams (rowid, name_key) VALUES (new.id, new.name_key || char(1114111, 1114111));
END;
CREATE TRIGGER inactive_products_reindexed AFTER UPDATE OF name_key, active, deleted_at ON products
WHEN NOT (old.active AND new.active)
  AND (old.name_key <> new.name_key OR old.active <> new.active OR old.deleted_at IS NOT new.deleted_at) BEGIN
  DELETE FROM inactive_product_grams WHERE rowid = old.id;
  INSERT INTO inactive_product_grams (rowid, name_key)
    SELECT new.id, new.name_key || char(1114111, 1114111) WHERE NOT new.active AND new.deleted_at IS NULL;
END;
CREATE TRIGGER inactive_products_unindexed AFTER DELETE ON products WHEN NOT old.active BEGIN
  DELETE FROM inactive_product_grams WHERE rowid = old.id;
END;
