-- Whoever disables a user revokes the user's API keys for good.
CREATE TRIGGER users_disabled_lose_keys AFTER UPDATE OF disabled_at ON users
  WHEN NEW.disabled_at IS NOT NULL AND OLD.disabled_at IS NULL
BEGIN
  DELETE FROM api_keys WHERE user_id = NEW.id;
END;
DELETE FROM api_keys WHERE EXISTS (SELECT 1 FROM users WHERE id = api_keys.user_id AND disabled_at IS NOT NULL);
