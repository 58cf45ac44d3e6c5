-- Administrators are looked for among those who hold a role at all: most users hold none.
CREATE INDEX users_with_roles ON users (id) WHERE roles <> '[]';
