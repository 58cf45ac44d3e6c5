-- Whose change an entry of the log is: see docs/decisions/0019-change-log.md.
-- The version that changed_by made. A statement that does not know the column, such as one of the previous release or of a
-- database shell, leaves it behind.
ALTER TABLE products ADD COLUMN changed_by_version INTEGER;

DROP TRIGGER products_change_logged;
DROP TRIGGER products_deletion_logged;

-- A statement of a database shell leaves the version alone. The change that gives the row its version is logged below.
CREATE TRIGGER products_versioned AFTER UPDATE ON products WHEN new.version <= old.version BEGIN
  UPDATE products SET version = old.version + 1,
    updated_at = CASE WHEN new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
    changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
    WHERE id = new.id;
END;
-- A deleted product may change too: the entry of its restoration tells how it is then.
CREATE TRIGGER products_change_logged AFTER UPDATE ON products
WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', CASE WHEN old.deleted_at IS NULL THEN 'product.updated' ELSE 'product.restored' END, new.id,
      CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END,
      new.updated_at, json_object(
      'id', new.id, 'name', new.name, 'slug', new.slug, 'description', new.description,
      'price_cents', new.price_cents, 'category', new.category, 'active', new.active, 'stock', new.stock,
      'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
END;
-- As it last was.
CREATE TRIGGER products_deletion_logged AFTER UPDATE OF deleted_at ON products
WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', 'product.deleted', old.id,
      CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by
        THEN new.changed_by END,
      CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at
        THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
      json_object(
      'id', old.id, 'name', old.name, 'slug', old.slug, 'description', old.description,
      'price_cents', old.price_cents, 'category', old.category, 'active', old.active, 'stock', old.stock,
      'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
END;
