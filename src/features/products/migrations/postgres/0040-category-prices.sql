-- A category by price: see docs/decisions/0022-sorted-lists.md for why it has an index of its own.
-- concurrently
CREATE INDEX IF NOT EXISTS products_by_category_price ON products (category, price_cents, id) WHERE deleted_at IS NULL;
