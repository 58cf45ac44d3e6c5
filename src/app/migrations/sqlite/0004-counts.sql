-- How many rows a list has, kept rather than counted. Rows are counted by blocks of their ids, at three levels: blocks
-- of 2^7, 2^14 and 2^21 ids. The top level gives the total; all together find the id at any place of the list.
CREATE TABLE kept_counts (
  list  TEXT NOT NULL,
  level INTEGER NOT NULL,
  block INTEGER NOT NULL,
  live  INTEGER NOT NULL,
  PRIMARY KEY (list, level, block)
) WITHOUT ROWID;

CREATE VIEW current_counts AS SELECT list, level, block, live FROM kept_counts;

INSERT INTO kept_counts
  WITH levels (level) AS (VALUES (7), (14), (21)),
       ids (list, id) AS (
         SELECT 'users', id FROM users UNION ALL SELECT 'audit', id FROM audit UNION ALL SELECT 'posts', id FROM posts)
  SELECT list, level, id >> level, count(*) FROM ids, levels GROUP BY 1, 2, 3;

CREATE TRIGGER users_counted AFTER INSERT ON users BEGIN
  INSERT INTO kept_counts
    VALUES ('users', 7, new.id >> 7, 1), ('users', 14, new.id >> 14, 1), ('users', 21, new.id >> 21, 1)
    ON CONFLICT (list, level, block) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER users_uncounted AFTER DELETE ON users BEGIN
  UPDATE kept_counts SET live = live - 1
    WHERE list = 'users' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;

CREATE TRIGGER audit_counted AFTER INSERT ON audit BEGIN
  INSERT INTO kept_counts
    VALUES ('audit', 7, new.id >> 7, 1), ('audit', 14, new.id >> 14, 1), ('audit', 21, new.id >> 21, 1)
    ON CONFLICT (list, level, block) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER audit_uncounted AFTER DELETE ON audit BEGIN
  UPDATE kept_counts SET live = live - 1
    WHERE list = 'audit' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;

CREATE TRIGGER posts_counted AFTER INSERT ON posts BEGIN
  INSERT INTO kept_counts
    VALUES ('posts', 7, new.id >> 7, 1), ('posts', 14, new.id >> 14, 1), ('posts', 21, new.id >> 21, 1)
    ON CONFLICT (list, level, block) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER posts_uncounted AFTER DELETE ON posts BEGIN
  UPDATE kept_counts SET live = live - 1
    WHERE list = 'posts' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
END;
