-- Every change of a product is an entry of the log, whoever makes it. The columns are those of product-resource.ts.
-- Whoever made the last change. Behind the description, where only changes of the row read it.
ALTER TABLE products ADD COLUMN changed_by INTEGER;

CREATE TRIGGER products_logged AFTER INSERT ON products WHEN new.deleted_at IS NULL BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', 'product.created', new.id, new.changed_by, new.created_at, json_object(
      'id', new.id, 'name', new.name, 'slug', new.slug, 'description', new.description,
      'price_cents', new.price_cents, 'category', new.category, 'active', new.active, 'stock', new.stock,
      'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
END;
-- A deleted product may change too: the entry of its restoration tells how it is then.
CREATE TRIGGER products_change_logged AFTER UPDATE ON products WHEN new.deleted_at IS NULL BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', CASE WHEN old.deleted_at IS NULL THEN 'product.updated' ELSE 'product.restored' END,
      new.id, new.changed_by, new.updated_at, json_object(
      'id', new.id, 'name', new.name, 'slug', new.slug, 'description', new.description,
      'price_cents', new.price_cents, 'category', new.category, 'active', new.active, 'stock', new.stock,
      'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
END;
-- As it last was.
CREATE TRIGGER products_deletion_logged AFTER UPDATE OF deleted_at ON products
WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', 'product.deleted', old.id, new.changed_by, new.updated_at, json_object(
      'id', old.id, 'name', old.name, 'slug', old.slug, 'description', old.description,
      'price_cents', old.price_cents, 'category', old.category, 'active', old.active, 'stock', old.stock,
      'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
END;
CREATE TRIGGER products_removal_logged AFTER DELETE ON products WHEN old.deleted_at IS NULL BEGIN
  INSERT INTO changes (topic, type, entity_id, at, data)
    VALUES ('products', 'product.deleted', old.id, strftime('%Y-%m-%dT%H:%M:%fZ'), json_object(
      'id', old.id, 'name', old.name, 'slug', old.slug, 'description', old.description,
      'price_cents', old.price_cents, 'category', old.category, 'active', old.active, 'stock', old.stock,
      'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
END;
