-- teams: create teams.
-- tickets: create tickets.
-- comments: create comments.
CREATE TABLE "teams" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  "name" TEXT,
  "owner" INTEGER REFERENCES users (id),
  "members" TEXT NOT NULL DEFAULT '[]',
  version INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted_at TEXT,
  deleted_with TEXT,
  changed_by INTEGER,
  changed_by_version INTEGER,
  changed_via TEXT
);
CREATE TABLE teams__members (row_id INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (value, row_id)) WITHOUT ROWID;
CREATE INDEX teams__members_rows ON teams__members (row_id);
CREATE INDEX teams__live ON "teams" (id) WHERE deleted_at IS NULL;
CREATE INDEX teams__deleted ON "teams" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX teams__deleted_with ON "teams" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX teams__owner_found ON "teams" ("owner", id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX teams__name_unique ON "teams" ("name") WHERE deleted_at IS NULL;
CREATE TRIGGER teams__members_added AFTER INSERT ON "teams" BEGIN INSERT OR IGNORE INTO teams__members (row_id, value) SELECT new.id, value FROM json_each(new."members"); END;
CREATE TRIGGER teams__members_changed AFTER UPDATE OF "members" ON "teams" WHEN old."members" <> new."members" BEGIN
        DELETE FROM teams__members WHERE row_id = old.id; INSERT OR IGNORE INTO teams__members (row_id, value) SELECT new.id, value FROM json_each(new."members"); END;
CREATE TRIGGER teams__members_removed AFTER DELETE ON "teams" BEGIN DELETE FROM teams__members WHERE row_id = old.id; END;
CREATE TRIGGER teams_logged AFTER INSERT ON "teams" WHEN new.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', 'team.created', new.id, new.changed_by, new.changed_via, new.created_at, json_object('id', new."id", 'members', json(new."members"), 'name', new."name", 'owner', new."owner", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
    END;
CREATE TRIGGER teams_versioned AFTER UPDATE OF "created_at", "id", "members", "name", "owner", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "teams"
    WHEN new.version <= old.version BEGIN
      UPDATE "teams" SET version = old.version + 1,
        updated_at = CASE WHEN new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
        changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
        WHERE id = new.id;
      UPDATE changes SET type = CASE WHEN old.deleted_at IS NULL THEN 'team.updated' ELSE 'team.restored' END, data = json_set(data, '$._was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('members' AS TEXT) AS name, json_quote(json(old."members")) AS value
      WHERE old."members" IS NOT new."members" UNION ALL SELECT CAST('name' AS TEXT) AS name, json_quote(old."name") AS value
      WHERE old."name" IS NOT new."name" UNION ALL SELECT CAST('owner' AS TEXT) AS name, json_quote(old."owner") AS value
      WHERE old."owner" IS NOT new."owner") AS changed)))
        WHERE id = (SELECT max(id) FROM changes) AND new.deleted_at IS NULL;
    END;
CREATE TRIGGER teams_change_logged AFTER UPDATE OF "created_at", "id", "members", "name", "owner", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "teams"
    WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', CASE WHEN old.deleted_at IS NULL THEN 'team.updated' ELSE 'team.restored' END, new.id, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, new.updated_at, json_object('id', new."id", 'members', json(new."members"), 'name', new."name", 'owner', new."owner", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at, '_was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('members' AS TEXT) AS name, json_quote(json(old."members")) AS value
      WHERE old."members" IS NOT new."members" UNION ALL SELECT CAST('name' AS TEXT) AS name, json_quote(old."name") AS value
      WHERE old."name" IS NOT new."name" UNION ALL SELECT CAST('owner' AS TEXT) AS name, json_quote(old."owner") AS value
      WHERE old."owner" IS NOT new."owner") AS changed))));
    END;
CREATE TRIGGER teams_deletion_logged AFTER UPDATE OF deleted_at ON "teams"
    WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', 'team.deleted', old.id, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END, json_object('id', old."id", 'members', json(old."members"), 'name', old."name", 'owner', old."owner", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TRIGGER teams_removal_logged AFTER DELETE ON "teams" WHEN old.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('teams', 'team.deleted', old.id, NULL, NULL, strftime('%Y-%m-%dT%H:%M:%fZ'), json_object('id', old."id", 'members', json(old."members"), 'name', old."name", 'owner', old."owner", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TABLE "tickets" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  "title" TEXT,
  "title__key" TEXT,
  "body" TEXT,
  "body__key" TEXT,
  "team" INTEGER,
  "author" INTEGER REFERENCES users (id),
  "assignee" INTEGER REFERENCES users (id) ON DELETE SET NULL,
  "status" TEXT,
  "priority" INTEGER,
  "cost" INTEGER,
  "tags" TEXT NOT NULL DEFAULT '[]',
  "due" TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted_at TEXT,
  deleted_with TEXT,
  changed_by INTEGER,
  changed_by_version INTEGER,
  changed_via TEXT
);
CREATE TABLE tickets__tags (row_id INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (value, row_id)) WITHOUT ROWID;
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
CREATE TRIGGER tickets__tags_added AFTER INSERT ON "tickets" BEGIN INSERT OR IGNORE INTO tickets__tags (row_id, value) SELECT new.id, value FROM json_each(new."tags"); END;
CREATE TRIGGER tickets__tags_changed AFTER UPDATE OF "tags" ON "tickets" WHEN old."tags" <> new."tags" BEGIN
        DELETE FROM tickets__tags WHERE row_id = old.id; INSERT OR IGNORE INTO tickets__tags (row_id, value) SELECT new.id, value FROM json_each(new."tags"); END;
CREATE TRIGGER tickets__tags_removed AFTER DELETE ON "tickets" BEGIN DELETE FROM tickets__tags WHERE row_id = old.id; END;
CREATE TRIGGER tickets_logged AFTER INSERT ON "tickets" WHEN new.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', 'ticket.created', new.id, new.changed_by, new.changed_via, new.created_at, json_object('assignee', new."assignee", 'author', new."author", 'body', new."body", 'cost', new."cost", 'due', new."due", 'id', new."id", 'priority', new."priority", 'status', new."status", 'tags', json(new."tags"), 'team', new."team", 'title', new."title", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
    END;
CREATE TRIGGER tickets_versioned AFTER UPDATE OF "assignee", "author", "body", "cost", "created_at", "due", "id", "priority", "status", "tags", "team", "title", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "tickets"
    WHEN new.version <= old.version BEGIN
      UPDATE "tickets" SET version = old.version + 1,
        updated_at = CASE WHEN new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
        changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
        WHERE id = new.id;
      UPDATE changes SET type = CASE WHEN old.deleted_at IS NULL THEN 'ticket.updated' ELSE 'ticket.restored' END, data = json_set(data, '$._was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('assignee' AS TEXT) AS name, json_quote(old."assignee") AS value
      WHERE old."assignee" IS NOT new."assignee" UNION ALL SELECT CAST('author' AS TEXT) AS name, json_quote(old."author") AS value
      WHERE old."author" IS NOT new."author" UNION ALL SELECT CAST('body' AS TEXT) AS name, json_quote(old."body") AS value
      WHERE old."body" IS NOT new."body" UNION ALL SELECT CAST('cost' AS TEXT) AS name, json_quote(old."cost") AS value
      WHERE old."cost" IS NOT new."cost" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('due' AS TEXT) AS name, json_quote(old."due") AS value
      WHERE old."due" IS NOT new."due" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('priority' AS TEXT) AS name, json_quote(old."priority") AS value
      WHERE old."priority" IS NOT new."priority" UNION ALL SELECT CAST('status' AS TEXT) AS name, json_quote(old."status") AS value
      WHERE old."status" IS NOT new."status" UNION ALL SELECT CAST('tags' AS TEXT) AS name, json_quote(json(old."tags")) AS value
      WHERE old."tags" IS NOT new."tags" UNION ALL SELECT CAST('team' AS TEXT) AS name, json_quote(old."team") AS value
      WHERE old."team" IS NOT new."team" UNION ALL SELECT CAST('title' AS TEXT) AS name, json_quote(old."title") AS value
      WHERE old."title" IS NOT new."title") AS changed)))
        WHERE id = (SELECT max(id) FROM changes) AND new.deleted_at IS NULL;
    END;
CREATE TRIGGER tickets_change_logged AFTER UPDATE OF "assignee", "author", "body", "cost", "created_at", "due", "id", "priority", "status", "tags", "team", "title", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "tickets"
    WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', CASE WHEN old.deleted_at IS NULL THEN 'ticket.updated' ELSE 'ticket.restored' END, new.id, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, new.updated_at, json_object('assignee', new."assignee", 'author', new."author", 'body', new."body", 'cost', new."cost", 'due', new."due", 'id', new."id", 'priority', new."priority", 'status', new."status", 'tags', json(new."tags"), 'team', new."team", 'title', new."title", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at, '_was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('assignee' AS TEXT) AS name, json_quote(old."assignee") AS value
      WHERE old."assignee" IS NOT new."assignee" UNION ALL SELECT CAST('author' AS TEXT) AS name, json_quote(old."author") AS value
      WHERE old."author" IS NOT new."author" UNION ALL SELECT CAST('body' AS TEXT) AS name, json_quote(old."body") AS value
      WHERE old."body" IS NOT new."body" UNION ALL SELECT CAST('cost' AS TEXT) AS name, json_quote(old."cost") AS value
      WHERE old."cost" IS NOT new."cost" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('due' AS TEXT) AS name, json_quote(old."due") AS value
      WHERE old."due" IS NOT new."due" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('priority' AS TEXT) AS name, json_quote(old."priority") AS value
      WHERE old."priority" IS NOT new."priority" UNION ALL SELECT CAST('status' AS TEXT) AS name, json_quote(old."status") AS value
      WHERE old."status" IS NOT new."status" UNION ALL SELECT CAST('tags' AS TEXT) AS name, json_quote(json(old."tags")) AS value
      WHERE old."tags" IS NOT new."tags" UNION ALL SELECT CAST('team' AS TEXT) AS name, json_quote(old."team") AS value
      WHERE old."team" IS NOT new."team" UNION ALL SELECT CAST('title' AS TEXT) AS name, json_quote(old."title") AS value
      WHERE old."title" IS NOT new."title") AS changed))));
    END;
CREATE TRIGGER tickets_deletion_logged AFTER UPDATE OF deleted_at ON "tickets"
    WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', 'ticket.deleted', old.id, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END, json_object('assignee', old."assignee", 'author', old."author", 'body', old."body", 'cost', old."cost", 'due', old."due", 'id', old."id", 'priority', old."priority", 'status', old."status", 'tags', json(old."tags"), 'team', old."team", 'title', old."title", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TRIGGER tickets_removal_logged AFTER DELETE ON "tickets" WHEN old.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('tickets', 'ticket.deleted', old.id, NULL, NULL, strftime('%Y-%m-%dT%H:%M:%fZ'), json_object('assignee', old."assignee", 'author', old."author", 'body', old."body", 'cost', old."cost", 'due', old."due", 'id', old."id", 'priority', old."priority", 'status', old."status", 'tags', json(old."tags"), 'team', old."team", 'title', old."title", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TABLE "comments" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  "ticket" INTEGER,
  "author" INTEGER REFERENCES users (id),
  "text" TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted_at TEXT,
  deleted_with TEXT,
  changed_by INTEGER,
  changed_by_version INTEGER,
  changed_via TEXT
);
CREATE INDEX comments__live ON "comments" (id) WHERE deleted_at IS NULL;
CREATE INDEX comments__deleted ON "comments" (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX comments__deleted_with ON "comments" (deleted_with) WHERE deleted_with IS NOT NULL;
CREATE INDEX comments__ticket_found ON "comments" ("ticket", id) WHERE deleted_at IS NULL;
CREATE INDEX comments__author_found ON "comments" ("author", id) WHERE deleted_at IS NULL;
CREATE TRIGGER comments_logged AFTER INSERT ON "comments" WHEN new.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', 'comment.created', new.id, new.changed_by, new.changed_via, new.created_at, json_object('author', new."author", 'id', new."id", 'text', new."text", 'ticket', new."ticket", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at));
    END;
CREATE TRIGGER comments_versioned AFTER UPDATE OF "author", "created_at", "id", "text", "ticket", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "comments"
    WHEN new.version <= old.version BEGIN
      UPDATE "comments" SET version = old.version + 1,
        updated_at = CASE WHEN new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END,
        changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
        WHERE id = new.id;
      UPDATE changes SET type = CASE WHEN old.deleted_at IS NULL THEN 'comment.updated' ELSE 'comment.restored' END, data = json_set(data, '$._was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('author' AS TEXT) AS name, json_quote(old."author") AS value
      WHERE old."author" IS NOT new."author" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('text' AS TEXT) AS name, json_quote(old."text") AS value
      WHERE old."text" IS NOT new."text" UNION ALL SELECT CAST('ticket' AS TEXT) AS name, json_quote(old."ticket") AS value
      WHERE old."ticket" IS NOT new."ticket") AS changed)))
        WHERE id = (SELECT max(id) FROM changes) AND new.deleted_at IS NULL;
    END;
CREATE TRIGGER comments_change_logged AFTER UPDATE OF "author", "created_at", "id", "text", "ticket", "updated_at", "version", "deleted_at", "changed_by", "changed_by_version", "changed_via" ON "comments"
    WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', CASE WHEN old.deleted_at IS NULL THEN 'comment.updated' ELSE 'comment.restored' END, new.id, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, new.updated_at, json_object('author', new."author", 'id', new."id", 'text', new."text", 'ticket', new."ticket", 'version', new.version, 'created_at', new.created_at, 'updated_at', new.updated_at, '_was', json((SELECT json_group_object(name, json(value)) FROM (SELECT CAST('author' AS TEXT) AS name, json_quote(old."author") AS value
      WHERE old."author" IS NOT new."author" UNION ALL SELECT CAST('created_at' AS TEXT) AS name, json_quote(old."created_at") AS value
      WHERE old."created_at" IS NOT new."created_at" UNION ALL SELECT CAST('id' AS TEXT) AS name, json_quote(old."id") AS value
      WHERE old."id" IS NOT new."id" UNION ALL SELECT CAST('text' AS TEXT) AS name, json_quote(old."text") AS value
      WHERE old."text" IS NOT new."text" UNION ALL SELECT CAST('ticket' AS TEXT) AS name, json_quote(old."ticket") AS value
      WHERE old."ticket" IS NOT new."ticket") AS changed))));
    END;
CREATE TRIGGER comments_deletion_logged AFTER UPDATE OF deleted_at ON "comments"
    WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', 'comment.deleted', old.id, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_by END, CASE WHEN new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by THEN new.changed_via END, CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at THEN strftime('%Y-%m-%dT%H:%M:%fZ') ELSE new.updated_at END, json_object('author', old."author", 'id', old."id", 'text', old."text", 'ticket', old."ticket", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
CREATE TRIGGER comments_removal_logged AFTER DELETE ON "comments" WHEN old.deleted_at IS NULL BEGIN
      INSERT INTO changes (topic, type, entity_id, actor_id, actor_via, at, data) VALUES ('comments', 'comment.deleted', old.id, NULL, NULL, strftime('%Y-%m-%dT%H:%M:%fZ'), json_object('author', old."author", 'id', old."id", 'text', old."text", 'ticket', old."ticket", 'version', old.version, 'created_at', old.created_at, 'updated_at', old.updated_at));
    END;
