-- A group that is gone answers nothing, whoever removed it.
CREATE FUNCTION forget_group_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM dns_targets WHERE label = OLD.dns_label;
  RETURN NULL;
END $$;
CREATE TRIGGER groups_forget_name AFTER DELETE ON groups FOR EACH ROW EXECUTE FUNCTION forget_group_name();
