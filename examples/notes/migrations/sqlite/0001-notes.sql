CREATE TABLE notes (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id    INTEGER NOT NULL REFERENCES users (id),
  text       TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE INDEX notes_user_id ON notes (user_id, id);
