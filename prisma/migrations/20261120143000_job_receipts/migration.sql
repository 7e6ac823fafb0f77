-- A job is open on every node of its site's zone that is to serve, from the same moment on as the job itself: whoever
-- makes it (a customer sees no nodes) and whatever dies right after. Then the ones who carry jobs out are woken.
CREATE FUNCTION open_job_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job_receipts (job_id, node_id)
    SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
    WHERE s.id = NEW.site_id AND n.enabled AND n.joined_at IS NOT NULL;
  PERFORM pg_notify('jobs', '');
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_open_receipts AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION open_job_receipts();
