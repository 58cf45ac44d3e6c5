-- Mail goes with its user.
CREATE FUNCTION remove_mails_of_deleted_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM queued_mails WHERE user_id = OLD.id;
  DELETE FROM dead_letters WHERE listener = 'mail' AND entity_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER users_deleted_lose_mails AFTER DELETE ON users FOR EACH ROW
  EXECUTE FUNCTION remove_mails_of_deleted_user();
