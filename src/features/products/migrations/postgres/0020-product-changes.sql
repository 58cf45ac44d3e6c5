-- Every change of a product is an entry of the log, whoever makes it. The columns are those of product-resource.ts.
-- Whoever made the last change.
ALTER TABLE products ADD COLUMN changed_by BIGINT;

-- In the trigger that counts them: a second one would cost as much again.
CREATE OR REPLACE FUNCTION count_new_products() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO kept_count_changes
    SELECT 'products', id >> 7, count(*) FROM new_rows WHERE deleted_at IS NULL GROUP BY 1, 2;
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    SELECT 'products', 'product.created', id, changed_by, created_at, json_build_object(
      'id', id, 'name', name, 'slug', slug, 'description', description,
      'price_cents', price_cents, 'category', category, 'active', active, 'stock', stock,
      'version', version, 'created_at', created_at, 'updated_at', updated_at)
    FROM new_rows WHERE deleted_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION log_product_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', CASE WHEN OLD.deleted_at IS NULL THEN 'product.updated' ELSE 'product.restored' END,
      NEW.id, NEW.changed_by, NEW.updated_at, json_build_object(
      'id', NEW.id, 'name', NEW.name, 'slug', NEW.slug, 'description', NEW.description,
      'price_cents', NEW.price_cents, 'category', NEW.category, 'active', NEW.active, 'stock', NEW.stock,
      'version', NEW.version, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at));
  RETURN NULL;
END $$;

-- As it last was.
CREATE FUNCTION log_product_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', 'product.deleted', OLD.id, NEW.changed_by, COALESCE(NEW.updated_at, now()), json_build_object(
      'id', OLD.id, 'name', OLD.name, 'slug', OLD.slug, 'description', OLD.description,
      'price_cents', OLD.price_cents, 'category', OLD.category, 'active', OLD.active, 'stock', OLD.stock,
      'version', OLD.version, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at));
  RETURN NULL;
END $$;

-- A deleted product may change too: the entry of its restoration tells how it is then.
CREATE TRIGGER products_change_logged AFTER UPDATE ON products
  FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION log_product_change();
CREATE TRIGGER products_deletion_logged AFTER UPDATE ON products
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION log_product_deletion();
CREATE TRIGGER products_removal_logged AFTER DELETE ON products
  FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION log_product_deletion();
