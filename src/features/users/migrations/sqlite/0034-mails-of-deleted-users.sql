-- Mail goes with its user.
CREATE TRIGGER users_deleted_lose_mails AFTER DELETE ON users
BEGIN
  DELETE FROM queued_mails WHERE user_id = OLD.id;
  DELETE FROM dead_letters WHERE listener = 'mail' AND entity_id = OLD.id;
END;
