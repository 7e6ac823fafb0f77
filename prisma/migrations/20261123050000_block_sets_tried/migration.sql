-- Also where what was only tried is replaced by a trial without it.
CREATE OR REPLACE TRIGGER zone_versions_empty_block_set AFTER INSERT OR UPDATE OF state ON zone_versions FOR EACH ROW
  WHEN (NEW.state IN ('live', 'trial', 'withdrawn')) EXECUTE FUNCTION empty_block_set();
