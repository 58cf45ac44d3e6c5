-- teams: create teams.
-- tickets: create tickets.
-- comments: create comments.
CREATE TABLE "teams" (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "name" TEXT COLLATE "C",
  "owner" BIGINT REFERENCES users (id),
  "members" TEXT NOT NULL DEFAULT '[]',
  version BIGINT NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3),
  deleted_with TEXT COLLATE "C",
  changed_by BIGINT,
  changed_by_version BIGINT,
  changed_via TEXT COLLATE "C"
);
CREATE TABLE teams__members (row_id BIGINT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (value, row_id));
CREATE INDEX teams__members_rows ON teams__members (row_id);
CREATE INDEX teams__live ON "teams" (id) WHERE deleted_at IS NULL;
CREATE INDEX teams__deleted ON "teams" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX teams__deleted_with ON "teams" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX teams__owner_found ON "teams" ("owner", id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX teams__name_unique ON "teams" ("name") WHERE deleted_at IS NULL;
CREATE FUNCTION keep_teams__members() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM teams__members WHERE row_id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO teams__members (row_id, value)
          SELECT NEW.id, CAST(item AS BIGINT) FROM json_array_elements_text(CAST(NEW."members" AS JSON)) AS item
          ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$;
CREATE TRIGGER teams__members_kept AFTER INSERT OR DELETE OR UPDATE OF "members" ON "teams"
      FOR EACH ROW EXECUTE FUNCTION keep_teams__members();
CREATE FUNCTION teams_log_created() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) SELECT 'teams', 'team.created', added.id, added.changed_by, added.changed_via, added.created_at, (SELECT row_to_json(entry) FROM (SELECT added."id" AS "id", CAST(added."members" AS JSON) AS "members", added."name" AS "name", added."owner" AS "owner", added.version AS "version", to_char(added.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(added.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry)
        FROM new_rows AS added WHERE added.deleted_at IS NULL ORDER BY added.id;
      RETURN NULL;
    END $$;
CREATE TRIGGER teams_logged AFTER INSERT ON "teams"
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION teams_log_created();
CREATE FUNCTION teams_add_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER teams_versioned BEFORE UPDATE OF "created_at", "id", "members", "name", "owner", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "teams"
      FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION teams_add_version();
CREATE FUNCTION teams_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', CASE WHEN OLD.deleted_at IS NULL THEN 'team.updated' ELSE 'team.restored' END, NEW.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT new."id" AS "id", CAST(new."members" AS JSON) AS "members", new."name" AS "name", new."owner" AS "owner", new.version AS "version", to_char(new.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(new.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at", (SELECT COALESCE(json_object_agg(name, value), '{}') FROM (SELECT CAST('created_at' AS TEXT) AS name, to_json(to_char(old."created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS value
      WHERE old."created_at" IS DISTINCT FROM new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, to_json(old."id") AS value
      WHERE old."id" IS DISTINCT FROM new."id" UNION ALL SELECT CAST('members' AS TEXT) AS name, to_json(CAST(old."members" AS JSON)) AS value
      WHERE old."members" IS DISTINCT FROM new."members" UNION ALL SELECT CAST('name' AS TEXT) AS name, to_json(old."name") AS value
      WHERE old."name" IS DISTINCT FROM new."name" UNION ALL SELECT CAST('owner' AS TEXT) AS name, to_json(old."owner") AS value
      WHERE old."owner" IS DISTINCT FROM new."owner") AS changed) AS "_was") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER teams_change_logged AFTER UPDATE OF "created_at", "id", "members", "name", "owner", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "teams"
      FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION teams_log_change();
CREATE FUNCTION teams_log_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', 'team.deleted', OLD.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT old."id" AS "id", CAST(old."members" AS JSON) AS "members", old."name" AS "name", old."owner" AS "owner", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER teams_deletion_logged AFTER UPDATE ON "teams"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION teams_log_deletion();
CREATE FUNCTION teams_log_removal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', 'team.deleted', OLD.id, NULL, NULL, now(), (SELECT row_to_json(entry) FROM (SELECT old."id" AS "id", CAST(old."members" AS JSON) AS "members", old."name" AS "name", old."owner" AS "owner", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER teams_removal_logged AFTER DELETE ON "teams"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION teams_log_removal();
CREATE TABLE "tickets" (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "title" TEXT COLLATE "C",
  "title__key" TEXT COLLATE "C",
  "body" TEXT COLLATE "C",
  "body__key" TEXT COLLATE "C",
  "team" BIGINT,
  "author" BIGINT REFERENCES users (id),
  "assignee" BIGINT REFERENCES users (id) ON DELETE SET NULL,
  "status" TEXT COLLATE "C",
  "priority" BIGINT,
  "cost" BIGINT,
  "tags" TEXT NOT NULL DEFAULT '[]',
  "due" TEXT COLLATE "C",
  version BIGINT NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3),
  deleted_with TEXT COLLATE "C",
  changed_by BIGINT,
  changed_by_version BIGINT,
  changed_via TEXT COLLATE "C"
);
CREATE TABLE tickets__tags (row_id BIGINT NOT NULL, value TEXT COLLATE "C" NOT NULL, PRIMARY KEY (value, row_id));
CREATE INDEX tickets__tags_rows ON tickets__tags (row_id);
CREATE INDEX tickets__live ON "tickets" (id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__deleted ON "tickets" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX tickets__deleted_with ON "tickets" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX tickets__title_sorted ON "tickets" (COALESCE("title__key", ''), id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__priority_sorted ON "tickets" (COALESCE("priority", -9007199254740991), id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__due_sorted ON "tickets" (COALESCE("due", ''), id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__updated_at_sorted ON "tickets" (updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__team_found ON "tickets" ("team", id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__author_found ON "tickets" ("author", id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__assignee_found ON "tickets" ("assignee", id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__status_found ON "tickets" ("status", id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__priority_found ON "tickets" ("priority", id) WHERE deleted_at IS NULL;
CREATE INDEX tickets__due_found ON "tickets" ("due", id) WHERE deleted_at IS NULL;
CREATE FUNCTION keep_tickets__tags() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM tickets__tags WHERE row_id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO tickets__tags (row_id, value)
          SELECT NEW.id, CAST(item AS TEXT) FROM json_array_elements_text(CAST(NEW."tags" AS JSON)) AS item
          ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$;
CREATE TRIGGER tickets__tags_kept AFTER INSERT OR DELETE OR UPDATE OF "tags" ON "tickets"
      FOR EACH ROW EXECUTE FUNCTION keep_tickets__tags();
CREATE FUNCTION tickets_log_created() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) SELECT 'tickets', 'ticket.created', added.id, added.changed_by, added.changed_via, added.created_at, (SELECT row_to_json(entry) FROM (SELECT added."assignee" AS "assignee", added."author" AS "author", added."body" AS "body", added."cost" AS "cost", added."due" AS "due", added."id" AS "id", added."priority" AS "priority", added."status" AS "status", CAST(added."tags" AS JSON) AS "tags", added."team" AS "team", added."title" AS "title", added.version AS "version", to_char(added.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(added.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry)
        FROM new_rows AS added WHERE added.deleted_at IS NULL ORDER BY added.id;
      RETURN NULL;
    END $$;
CREATE TRIGGER tickets_logged AFTER INSERT ON "tickets"
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tickets_log_created();
CREATE FUNCTION tickets_add_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER tickets_versioned BEFORE UPDATE OF "assignee", "author", "body", "cost", "created_at", "due", "id", "priority", "status", "tags", "team", "title", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "tickets"
      FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION tickets_add_version();
CREATE FUNCTION tickets_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', CASE WHEN OLD.deleted_at IS NULL THEN 'ticket.updated' ELSE 'ticket.restored' END, NEW.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT new."assignee" AS "assignee", new."author" AS "author", new."body" AS "body", new."cost" AS "cost", new."due" AS "due", new."id" AS "id", new."priority" AS "priority", new."status" AS "status", CAST(new."tags" AS JSON) AS "tags", new."team" AS "team", new."title" AS "title", new.version AS "version", to_char(new.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(new.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at", (SELECT COALESCE(json_object_agg(name, value), '{}') FROM (SELECT CAST('assignee' AS TEXT) AS name, to_json(old."assignee") AS value
      WHERE old."assignee" IS DISTINCT FROM new."assignee" UNION ALL SELECT CAST('author' AS TEXT) AS name, to_json(old."author") AS value
      WHERE old."author" IS DISTINCT FROM new."author" UNION ALL SELECT CAST('body' AS TEXT) AS name, to_json(old."body") AS value
      WHERE old."body" IS DISTINCT FROM new."body" UNION ALL SELECT CAST('cost' AS TEXT) AS name, to_json(old."cost") AS value
      WHERE old."cost" IS DISTINCT FROM new."cost" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, to_json(to_char(old."created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS value
      WHERE old."created_at" IS DISTINCT FROM new."created_at" UNION ALL SELECT CAST('due' AS TEXT) AS name, to_json(old."due") AS value
      WHERE old."due" IS DISTINCT FROM new."due" UNION ALL SELECT CAST('id' AS TEXT) AS name, to_json(old."id") AS value
      WHERE old."id" IS DISTINCT FROM new."id" UNION ALL SELECT CAST('priority' AS TEXT) AS name, to_json(old."priority") AS value
      WHERE old."priority" IS DISTINCT FROM new."priority" UNION ALL SELECT CAST('status' AS TEXT) AS name, to_json(old."status") AS value
      WHERE old."status" IS DISTINCT FROM new."status" UNION ALL SELECT CAST('tags' AS TEXT) AS name, to_json(CAST(old."tags" AS JSON)) AS value
      WHERE old."tags" IS DISTINCT FROM new."tags" UNION ALL SELECT CAST('team' AS TEXT) AS name, to_json(old."team") AS value
      WHERE old."team" IS DISTINCT FROM new."team" UNION ALL SELECT CAST('title' AS TEXT) AS name, to_json(old."title") AS value
      WHERE old."title" IS DISTINCT FROM new."title") AS changed) AS "_was") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER tickets_change_logged AFTER UPDATE OF "assignee", "author", "body", "cost", "created_at", "due", "id", "priority", "status", "tags", "team", "title", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "tickets"
      FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION tickets_log_change();
CREATE FUNCTION tickets_log_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', 'ticket.deleted', OLD.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT old."assignee" AS "assignee", old."author" AS "author", old."body" AS "body", old."cost" AS "cost", old."due" AS "due", old."id" AS "id", old."priority" AS "priority", old."status" AS "status", CAST(old."tags" AS JSON) AS "tags", old."team" AS "team", old."title" AS "title", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER tickets_deletion_logged AFTER UPDATE ON "tickets"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION tickets_log_deletion();
CREATE FUNCTION tickets_log_removal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', 'ticket.deleted', OLD.id, NULL, NULL, now(), (SELECT row_to_json(entry) FROM (SELECT old."assignee" AS "assignee", old."author" AS "author", old."body" AS "body", old."cost" AS "cost", old."due" AS "due", old."id" AS "id", old."priority" AS "priority", old."status" AS "status", CAST(old."tags" AS JSON) AS "tags", old."team" AS "team", old."title" AS "title", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER tickets_removal_logged AFTER DELETE ON "tickets"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION tickets_log_removal();
CREATE TABLE "comments" (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "ticket" BIGINT,
  "author" BIGINT REFERENCES users (id),
  "text" TEXT COLLATE "C",
  version BIGINT NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3),
  deleted_with TEXT COLLATE "C",
  changed_by BIGINT,
  changed_by_version BIGINT,
  changed_via TEXT COLLATE "C"
);
CREATE INDEX comments__live ON "comments" (id) WHERE deleted_at IS NULL;
CREATE INDEX comments__deleted ON "comments" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX comments__deleted_with ON "comments" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX comments__ticket_found ON "comments" ("ticket", id) WHERE deleted_at IS NULL;
CREATE INDEX comments__author_found ON "comments" ("author", id) WHERE deleted_at IS NULL;
CREATE FUNCTION comments_log_created() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) SELECT 'comments', 'comment.created', added.id, added.changed_by, added.changed_via, added.created_at, (SELECT row_to_json(entry) FROM (SELECT added."author" AS "author", added."id" AS "id", added."text" AS "text", added."ticket" AS "ticket", added.version AS "version", to_char(added.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(added.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry)
        FROM new_rows AS added WHERE added.deleted_at IS NULL ORDER BY added.id;
      RETURN NULL;
    END $$;
CREATE TRIGGER comments_logged AFTER INSERT ON "comments"
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION comments_log_created();
CREATE FUNCTION comments_add_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER comments_versioned BEFORE UPDATE OF "author", "created_at", "id", "text", "ticket", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "comments"
      FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION comments_add_version();
CREATE FUNCTION comments_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', CASE WHEN OLD.deleted_at IS NULL THEN 'comment.updated' ELSE 'comment.restored' END, NEW.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT new."author" AS "author", new."id" AS "id", new."text" AS "text", new."ticket" AS "ticket", new.version AS "version", to_char(new.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(new.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at", (SELECT COALESCE(json_object_agg(name, value), '{}') FROM (SELECT CAST('author' AS TEXT) AS name, to_json(old."author") AS value
      WHERE old."author" IS DISTINCT FROM new."author" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, to_json(to_char(old."created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS value
      WHERE old."created_at" IS DISTINCT FROM new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, to_json(old."id") AS value
      WHERE old."id" IS DISTINCT FROM new."id" UNION ALL SELECT CAST('text' AS TEXT) AS name, to_json(old."text") AS value
      WHERE old."text" IS DISTINCT FROM new."text" UNION ALL SELECT CAST('ticket' AS TEXT) AS name, to_json(old."ticket") AS value
      WHERE old."ticket" IS DISTINCT FROM new."ticket") AS changed) AS "_was") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER comments_change_logged AFTER UPDATE OF "author", "created_at", "id", "text", "ticket", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "comments"
      FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION comments_log_change();
CREATE FUNCTION comments_log_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', 'comment.deleted', OLD.id, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_by END, CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.changed_via END, NEW.updated_at, (SELECT row_to_json(entry) FROM (SELECT old."author" AS "author", old."id" AS "id", old."text" AS "text", old."ticket" AS "ticket", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER comments_deletion_logged AFTER UPDATE ON "comments"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION comments_log_deletion();
CREATE FUNCTION comments_log_removal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', 'comment.deleted', OLD.id, NULL, NULL, now(), (SELECT row_to_json(entry) FROM (SELECT old."author" AS "author", old."id" AS "id", old."text" AS "text", old."ticket" AS "ticket", old.version AS "version", to_char(old.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at", to_char(old.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at") AS entry));
      RETURN NULL;
    END $$;
CREATE TRIGGER comments_removal_logged AFTER DELETE ON "comments"
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION comments_log_removal();
