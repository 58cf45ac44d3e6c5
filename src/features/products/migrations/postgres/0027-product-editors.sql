-- Whose change an entry of the log is: see docs/decisions/0019-change-log.md.
-- The version that changed_by made. A statement that does not know the column, such as one of the previous release or of
-- psql, leaves it behind.
ALTER TABLE products ADD COLUMN changed_by_version BIGINT;

-- A statement of psql leaves the version alone.
CREATE FUNCTION version_product() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  IF NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at THEN
    NEW.updated_at := now();
  END IF;
  IF NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN
    NEW.changed_by_version := NEW.version;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER products_versioned BEFORE UPDATE ON products
  FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION version_product();

CREATE OR REPLACE FUNCTION log_product_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', CASE WHEN OLD.deleted_at IS NULL THEN 'product.updated' ELSE 'product.restored' END, NEW.id,
      CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by
        THEN NEW.changed_by END,
      NEW.updated_at, json_build_object(
      'id', NEW.id, 'name', NEW.name, 'slug', NEW.slug, 'description', NEW.description,
      'price_cents', NEW.price_cents, 'category', NEW.category, 'active', NEW.active, 'stock', NEW.stock,
      'version', NEW.version, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at));
  RETURN NULL;
END $$;

-- As it last was. A row that is removed has no editor.
CREATE OR REPLACE FUNCTION log_product_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changes (topic, type, entity_id, actor_id, at, data)
    VALUES ('products', 'product.deleted', OLD.id,
      CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by
        THEN NEW.changed_by END,
      COALESCE(NEW.updated_at, now()), json_build_object(
      'id', OLD.id, 'name', OLD.name, 'slug', OLD.slug, 'description', OLD.description,
      'price_cents', OLD.price_cents, 'category', OLD.category, 'active', OLD.active, 'stock', OLD.stock,
      'version', OLD.version, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at));
  RETURN NULL;
END $$;
