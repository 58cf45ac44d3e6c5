-- The orders of product-orders.ts. Each product is in one half of an index, by whether it is active: a list of both reads two
-- places, and a list of the few inactive ones does not read past a million others.
DROP INDEX products_name;
CREATE INDEX products_by_name ON products (active, name_key, id) WHERE deleted_at IS NULL;
CREATE INDEX products_by_price ON products (active, price_cents, id) WHERE deleted_at IS NULL;
CREATE INDEX products_by_stock ON products (active, stock, id) WHERE deleted_at IS NULL;
CREATE INDEX products_by_change ON products (active, updated_at, id) WHERE deleted_at IS NULL;
