-- A node that is switched off keeps its cache, so it owes purges as well: otherwise it would serve purged objects once it
-- is switched on again. The job does not wait for it (node-link/receipts.ts).
CREATE OR REPLACE FUNCTION open_job_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job_receipts (job_id, node_id)
    SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
    WHERE s.id = NEW.site_id AND n.joined_at IS NOT NULL;
  PERFORM pg_notify('jobs', '');
  RETURN NULL;
END $$;
-- What was removed with its zone must not stay behind in the store of documents.
CREATE FUNCTION forget_zone_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM outbox WHERE zone_id = OLD.id;
  DELETE FROM edge_documents WHERE zone_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER zones_forget_documents AFTER DELETE ON zones FOR EACH ROW EXECUTE FUNCTION forget_zone_documents();
