-- How many rows a list has, kept rather than counted. Rows are counted by blocks of their ids, at three levels: blocks
-- of 2^7, 2^14 and 2^21 ids. The top level gives the total; all together find the id at any place of the list.
CREATE TABLE kept_counts (
  list  TEXT NOT NULL,
  level INTEGER NOT NULL,
  block BIGINT NOT NULL,
  live  BIGINT NOT NULL,
  PRIMARY KEY (list, level, block)
);

-- Writers add to this one: if they all changed the row of the newest block, each would wait for the commit of the one
-- before. What lies here is added up into kept_counts now and then.
CREATE TABLE kept_count_changes (
  list   TEXT NOT NULL,
  block  BIGINT NOT NULL,
  change BIGINT NOT NULL
);

CREATE VIEW current_counts AS
  SELECT list, level, block, CAST(sum(live) AS BIGINT) AS live
  FROM (
    SELECT list, level, block, live FROM kept_counts
    UNION ALL
    SELECT list, level, block >> (level - 7), change
    FROM kept_count_changes, (VALUES (7), (14), (21)) AS levels (level)
  ) AS parts
  GROUP BY list, level, block;

-- Nobody adds a row between being counted and the triggers that count from then on.
LOCK TABLE users, audit, posts IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO kept_counts
  SELECT list, level, id >> level, count(*)
  FROM (SELECT 'users' AS list, id FROM users UNION ALL
        SELECT 'audit', id FROM audit UNION ALL
        SELECT 'posts', id FROM posts) AS ids, (VALUES (7), (14), (21)) AS levels (level)
  GROUP BY 1, 2, 3;

CREATE FUNCTION count_new_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO kept_count_changes SELECT TG_TABLE_NAME, id >> 7, count(*) FROM new_rows GROUP BY 1, 2;
  RETURN NULL;
END $$;

CREATE FUNCTION count_gone_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO kept_count_changes VALUES (TG_TABLE_NAME, OLD.id >> 7, -1);
  RETURN NULL;
END $$;

CREATE FUNCTION count_returned_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO kept_count_changes VALUES (TG_TABLE_NAME, NEW.id >> 7, 1);
  RETURN NULL;
END $$;

CREATE FUNCTION forget_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM kept_counts WHERE list = TG_TABLE_NAME;
  DELETE FROM kept_count_changes WHERE list = TG_TABLE_NAME;
  RETURN NULL;
END $$;

CREATE TRIGGER users_counted AFTER INSERT ON users
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_rows();
CREATE TRIGGER users_uncounted AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION count_gone_row();
CREATE TRIGGER users_forgotten AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION forget_counts();

CREATE TRIGGER audit_counted AFTER INSERT ON audit
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_rows();
CREATE TRIGGER audit_uncounted AFTER DELETE ON audit FOR EACH ROW EXECUTE FUNCTION count_gone_row();
CREATE TRIGGER audit_forgotten AFTER TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION forget_counts();

CREATE TRIGGER posts_counted AFTER INSERT ON posts
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_rows();
CREATE TRIGGER posts_uncounted AFTER DELETE ON posts FOR EACH ROW EXECUTE FUNCTION count_gone_row();
CREATE TRIGGER posts_forgotten AFTER TRUNCATE ON posts FOR EACH STATEMENT EXECUTE FUNCTION forget_counts();
