-- Whoever disables a user revokes the user's API keys for good: also nodes of the previous release, which leave them.
CREATE FUNCTION remove_keys_of_disabled_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM api_keys WHERE user_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER users_disabled_lose_keys AFTER UPDATE OF disabled_at ON users FOR EACH ROW
  WHEN (NEW.disabled_at IS NOT NULL AND OLD.disabled_at IS NULL)
  EXECUTE FUNCTION remove_keys_of_disabled_user();
DELETE FROM api_keys WHERE EXISTS (SELECT 1 FROM users WHERE id = api_keys.user_id AND disabled_at IS NOT NULL);
