-- The first group of a zone serves each site that names no group. DNS, counts and lists all read sites.group_id.
CREATE FUNCTION first_group(zone uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT id FROM groups WHERE zone_id = zone ORDER BY priority, created_at, id LIMIT 1
$$;

-- The key share lock waits for a group that is being added, so one of the two transactions sees the other's row.
CREATE FUNCTION fill_group_of_site() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM zones WHERE id = NEW.zone_id FOR KEY SHARE;
  NEW.group_id := first_group(NEW.zone_id);
  RETURN NEW;
END $$;
CREATE TRIGGER sites_fill_group BEFORE INSERT OR UPDATE OF group_id ON sites FOR EACH ROW
  WHEN (NEW.group_id IS NULL) EXECUTE FUNCTION fill_group_of_site();

CREATE FUNCTION lock_zone_of_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM zones WHERE id = NEW.zone_id FOR UPDATE;
  RETURN NEW;
END $$;
CREATE TRIGGER groups_lock_zone BEFORE INSERT ON groups FOR EACH ROW EXECUTE FUNCTION lock_zone_of_group();

-- The first group of a zone takes the sites that were added before it.
CREATE FUNCTION take_waiting_sites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sites SET group_id = first_group(zone_id) WHERE group_id IS NULL AND zone_id IN (SELECT zone_id FROM new_rows);
  RETURN NULL;
END $$;
CREATE TRIGGER groups_take_waiting_sites AFTER INSERT ON groups REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION take_waiting_sites();

UPDATE sites SET group_id = first_group(zone_id) WHERE group_id IS NULL;
