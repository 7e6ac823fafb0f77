-- A block set that is on at no node any more is empty from that moment on, however soon it is on again. Who stores a block has the set
-- locked, so what comes in between is seen, and gone as well.
CREATE FUNCTION empty_block_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM zone_versions v WHERE v.zone_id = NEW.zone_id AND v.state IN ('live', 'trial')
      AND coalesce((v.content -> 'ipset' ->> 'enabled')::bool, false)) THEN
    INSERT INTO block_sets (zone_id) VALUES (NEW.zone_id) ON CONFLICT DO NOTHING;
    PERFORM FROM block_sets WHERE zone_id = NEW.zone_id FOR UPDATE;
    UPDATE block_sets SET revision = revision + 1, flushed = revision + 1, refused = 0 WHERE zone_id = NEW.zone_id AND flushed < revision;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER zone_versions_empty_block_set AFTER INSERT OR UPDATE OF state ON zone_versions FOR EACH ROW
  WHEN (NEW.state IN ('live', 'withdrawn')) EXECUTE FUNCTION empty_block_set();

UPDATE block_sets s SET revision = s.revision + 1, flushed = s.revision + 1, refused = 0 FROM zones z
  WHERE z.id = s.zone_id AND s.flushed < s.revision AND NOT coalesce((z.settings -> 'ipset' ->> 'enabled')::bool, false)
    AND NOT EXISTS (SELECT FROM zone_versions v WHERE v.zone_id = z.id AND v.state = 'trial');
