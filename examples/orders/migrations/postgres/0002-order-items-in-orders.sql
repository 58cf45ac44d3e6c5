-- Orders as a collection, with their items as JSON. The rows are copied before the triggers of the change log are there.
ALTER TABLE orders RENAME TO old_orders;
ALTER INDEX orders_pkey RENAME TO old_orders_pkey;
ALTER SEQUENCE orders_id_seq RENAME TO old_orders_id_seq;
CREATE TABLE "orders" (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "customer" BIGINT REFERENCES users (id),
  "items" TEXT,
  "total" BIGINT,
  "status" TEXT COLLATE "C",
  "cancelled_at" TIMESTAMPTZ(3),
  version BIGINT NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3),
  deleted_with TEXT COLLATE "C",
  changed_by BIGINT,
  changed_by_version BIGINT,
  changed_via TEXT COLLATE "C"
);
INSERT INTO orders (id, customer, items, total, status, cancelled_at, created_at, updated_at) OVERRIDING SYSTEM VALUE
  SELECT id, user_id,
    (SELECT json_agg(json_build_object('product_id', product_id, 'quantity', quantity, 'name', name,
      'unit_price', round(unit_cents / 100.0, 2)) ORDER BY position) FROM order_items WHERE order_id = old_orders.id),
    total_cents, status, cancelled_at, created_at, COALESCE(cancelled_at, created_at)
  FROM old_orders;
SELECT setval(pg_get_serial_sequence('orders', 'id'), max(id)) FROM orders HAVING max(id) IS NOT NULL;
DROP TABLE order_items;
DROP TABLE old_orders;
CREATE INDEX orders__live ON "orders" (id) WHERE deleted_at IS NULL;
CREATE INDEX orders__deleted ON "orders" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX orders__deleted_with ON "orders" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX orders__total_sorted ON "orders" (COALESCE("total", -9007199254740991), id) WHERE deleted_at IS NULL;
CREATE INDEX orders__created_at_found ON "orders" ("created_at", id) WHERE deleted_at IS NULL;
CREATE INDEX orders__customer_found ON "orders" ("customer", id) WHERE deleted_at IS NULL;
CREATE INDEX orders__status_found ON "orders" ("status", id) WHERE deleted_at IS NULL;
CREATE FUNCTION orders_log_created() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) SELECT 'orders', 'order.created', added.id, added.changed_by, added.changed_via, added.created_at, (SELECT row_to_json(entry) FROM (SELECT to_char(added."cancelled_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "cancelled_at", added."customer" AS "customer", added."id" AS "id", CAST(added."items" AS JSON) AS "items", added."status" AS "status", added."total" AS "total", added.version AS "version", to_char(added.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(added.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry)
        FROM new_rows AS added WHERE added.deleted_at IS NULL ORDER BY added.id;
      RETURN NULL;
    END $$;
CREATE TRIGGER orders_logged AFTER INSERT ON "orders"
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orders_log_created();
CREATE FUNCTION orders_add_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER orders_versioned BEFORE UPDATE OF "cancelled_at", "created_at", "customer", "id", "items", "status", "total", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "orders"
      FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION orders_add_version();
CREATE FUNCTION orders_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', CASE WHEN OLD.deleted_at IS NULL THEN 'order.updated' ELSE 'order.restored' END, NEW.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT to_char(new."cancelled_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "cancelled_at", new."customer" AS "customer", new."id" AS "id", CAST(new."items" AS JSON) AS "items", new."status" AS "status", new."total" AS "total", new.version AS "version", to_char(new.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(new.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at", (SELECT COALESCE(json_object_agg(name, value), '{}') FROM (SELECT CAST('cancelled_at' AS TEXT) AS name, to_json(to_char(old."cancelled_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS value
      WHERE old."cancelled_at" IS DISTINCT FROM new."cancelled_at" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, to_json(to_char(old."created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS value
      WHERE old."created_at" IS DISTINCT FROM new."created_at" UNION ALL SELECT CAST('customer' AS TEXT) AS name, to_json(old."customer") AS value
      WHERE old."customer" IS DISTINCT FROM new."customer" UNION ALL SELECT CAST('id' AS TEXT) AS name, to_json(old."id") AS value
      WHERE old."id" IS DISTINCT FROM new."id" UNION ALL SELECT CAST('items' AS TEXT) AS name, to_json(CAST(old."items" AS JSON)) AS value
      WHERE old."items" IS DISTINCT FROM new."items" UNION ALL SELECT CAST('status' AS TEXT) AS name, to_json(old."status") AS value
      WHERE old."status" IS DISTINCT FROM new."status" UNION ALL SELECT CAST('total' AS TEXT) AS name, to_json(old."total") AS value
      WHERE old."total" IS DISTINCT FROM new."total") AS changed) AS "_was") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER orders_change_logged AFTER UPDATE OF "cancelled_at", "created_at", "customer", "id", "items", "status", "total", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "orders"
      FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION orders_log_change();
CREATE FUNCTION orders_log_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', 'order.deleted', OLD.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT to_char(old."cancelled_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "cancelled_at", old."customer" AS "customer", old."id" AS "id", CAST(old."items" AS JSON) AS "items", old."status" AS "status", old."total" AS "total", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER orders_deletion_logged AFTER UPDATE ON "orders"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION orders_log_deletion();
CREATE FUNCTION orders_log_removal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', 'order.deleted', OLD.id, NULL, NULL, now(), (SELECT row_to_json(entry) FROM (SELECT to_char(old."cancelled_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "cancelled_at", old."customer" AS "customer", old."id" AS "id", CAST(old."items" AS JSON) AS "items", old."status" AS "status", old."total" AS "total", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER orders_removal_logged AFTER DELETE ON "orders"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION orders_log_removal();
