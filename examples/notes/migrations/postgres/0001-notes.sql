CREATE TABLE notes (
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id    BIGINT NOT NULL REFERENCES users (id),
  text       TEXT NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX notes_user_id ON notes (user_id, id);
