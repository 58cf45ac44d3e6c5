CREATE TABLE orders (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id      INTEGER NOT NULL REFERENCES users (id),
  status       TEXT NOT NULL CHECK (status IN ('placed', 'cancelled')),
  total_cents  INTEGER NOT NULL,
  created_at   TEXT NOT NULL,
  cancelled_at TEXT
);
CREATE INDEX orders_user_id ON orders (user_id, id);
CREATE INDEX orders_placed ON orders (created_at) WHERE status = 'placed';

CREATE TABLE order_items (
  order_id   INTEGER NOT NULL REFERENCES orders (id),
  position   INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  name       TEXT NOT NULL,
  quantity   INTEGER NOT NULL CHECK (quantity > 0),
  unit_cents INTEGER NOT NULL,
  PRIMARY KEY (order_id, position)
) WITHOUT ROWID;
