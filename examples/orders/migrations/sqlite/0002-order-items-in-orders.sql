-- Orders as a collection, with their items as JSON. The rows are copied before the triggers of the change log are there.
ALTER TABLE orders RENAME TO old_orders;
CREATE TABLE "orders" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  "customer" INTEGER REFERENCES users (id),
  "items" TEXT,
  "total" INTEGER,
  "status" TEXT,
  "cancelled_at" TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted_at TEXT,
  deleted_with TEXT,
  changed_by INTEGER,
  changed_by_version INTEGER,
  changed_via TEXT
);
INSERT INTO orders (id, customer, items, total, status, cancelled_at, created_at, updated_at)
  SELECT id, user_id,
    (SELECT json_group_array(json_object('product_id', product_id, 'quantity', quantity, 'name', name,
      'unit_price', unit_cents / 100.0)) FROM (SELECT * FROM order_items WHERE order_id = old_orders.id ORDER BY position)),
    total_cents, status, cancelled_at, created_at, COALESCE(cancelled_at, created_at)
  FROM old_orders;
DROP TABLE order_items;
DROP TABLE old_orders;
CREATE INDEX orders__live ON "orders" (id) WHERE deleted_at IS NULL;
CREATE INDEX orders__deleted ON "orders" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX orders__deleted_with ON "orders" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX orders__total_sorted ON "orders" (COALESCE("total", -9007199254740991), id) WHERE deleted_at IS NULL;
CREATE INDEX orders__created_at_found ON "orders" ("created_at", id) WHERE deleted_at IS NULL;
CREATE INDEX orders__customer_found ON "orders" ("customer", id) WHERE deleted_at IS NULL;
CREATE INDEX orders__status_found ON "orders" ("status", id) WHERE deleted_at IS NULL;
CREATE TRIGGER orders_logged AFTER INSERT ON "orders" WHEN new.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', 'order.created', new.id, new.changed_by, new.changed_via, new.created_at, json_object('cancelled_at', new."cancelled_at", 'customer', new."customer", 'id', new."id", 'items', json(new."items"), 'status', new."status", 'total', new."total", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
    END;
CREATE TRIGGER orders_versioned AFTER UPDATE OF "cancelled_at", "created_at", "customer", "id", "items", "status", "total", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "orders"
    WHEN new.version <= old.version BEGIN
      UPDATE "orders" SET version = old.version + 1,
        updated_at = CASE WHEN new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
        changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
        WHERE id = new.id;
      UPDATE changes SET type = CASE WHEN old.deleted_at IS NULL THEN 'order.updated' ELSE 'order.restored' END, data = json_set(data, '$._was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('cancelled_at' AS TEXT) AS name, json_quote(old."cancelled_at") AS value
      WHERE old."cancelled_at" IS NOT new."cancelled_at" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('customer' AS TEXT) AS name, json_quote(old."customer") AS value
      WHERE old."customer" IS NOT new."customer" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('items' AS TEXT) AS name, json_quote(json(old."items")) AS value
      WHERE old."items" IS NOT new."items" UNION ALL SELECT CAST('status' AS TEXT) AS name, json_quote(old."status") AS value
      WHERE old."status" IS NOT new."status" UNION ALL SELECT CAST('total' AS TEXT) AS name, json_quote(old."total") AS value
      WHERE old."total" IS NOT new."total") AS changed)))
        WHERE id = (SELECT max(id) FROM changes) AND new.deleted_at IS NULL;
    END;
CREATE TRIGGER orders_change_logged AFTER UPDATE OF "cancelled_at", "created_at", "customer", "id", "items", "status", "total", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "orders"
    WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', CASE WHEN old.deleted_at IS NULL THEN 'order.updated' ELSE 'order.restored' END, new.id, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, new.updated_at, json_object('cancelled_at', new."cancelled_at", 'customer', new."customer", 'id', new."id", 'items', json(new."items"), 'status', new."status", 'total', new."total", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at, '_was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('cancelled_at' AS TEXT) AS name, json_quote(old."cancelled_at") AS value
      WHERE old."cancelled_at" IS NOT new."cancelled_at" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('customer' AS TEXT) AS name, json_quote(old."customer") AS value
      WHERE old."customer" IS NOT new."customer" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('items' AS TEXT) AS name, json_quote(json(old."items")) AS value
      WHERE old."items" IS NOT new."items" UNION ALL SELECT CAST('status' AS TEXT) AS name, json_quote(old."status") AS value
      WHERE old."status" IS NOT new."status" UNION ALL SELECT CAST('total' AS TEXT) AS name, json_quote(old."total") AS value
      WHERE old."total" IS NOT new."total") AS changed))));
    END;
CREATE TRIGGER orders_deletion_logged AFTER UPDATE OF deleted_at ON "orders"
    WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', 'order.deleted', old.id, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END, json_object('cancelled_at', old."cancelled_at", 'customer', old."customer", 'id', old."id", 'items', json(old."items"), 'status', old."status", 'total', old."total", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TRIGGER orders_removal_logged AFTER DELETE ON "orders" WHEN old.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('orders', 'order.deleted', old.id, NULL, NULL, strftime('%Y-%m-%dT%H:%M:%fZ'), json_object('cancelled_at', old."cancelled_at", 'customer', old."customer", 'id', old."id", 'items', json(old."items"), 'status', old."status", 'total', old."total", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
