-- rewrites: products
-- A description may be a megabyte. What stands behind it in a row is reached only through all of its pages, so it is
-- moved to the end: a list then reads everything else without it.
ALTER TABLE products ADD COLUMN moved_description TEXT NOT NULL DEFAULT '';
UPDATE products SET moved_description = description;
ALTER TABLE products DROP COLUMN description;
ALTER TABLE products RENAME COLUMN moved_description TO description;
