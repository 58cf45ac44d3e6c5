-- The session or API key by which a change was made.
ALTER TABLE changes ADD COLUMN actor_via TEXT;
