CREATE TABLE orders (
  id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id      BIGINT NOT NULL REFERENCES users (id),
  status       TEXT NOT NULL CHECK (status IN ('placed', 'cancelled')),
  total_cents  BIGINT NOT NULL,
  created_at   TIMESTAMPTZ(3) NOT NULL,
  cancelled_at TIMESTAMPTZ(3)
);
CREATE INDEX orders_user_id ON orders (user_id, id);
CREATE INDEX orders_placed ON orders (created_at) WHERE status = 'placed';

CREATE TABLE order_items (
  order_id   BIGINT NOT NULL REFERENCES orders (id),
  position   INTEGER NOT NULL,
  product_id BIGINT NOT NULL,
  name       TEXT NOT NULL,
  quantity   INTEGER NOT NULL CHECK (quantity > 0),
  unit_cents BIGINT NOT NULL,
  PRIMARY KEY (order_id, position)
);
