CREATE TABLE layer4_lists (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    is_black boolean NOT NULL,
    value text[],
    memo text NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX layer4_lists_site_id_is_black_id_idx ON layer4_lists (site_id, is_black, id);

-- Each forward's document contains the lists of its site. Copies and restored versions publish them by this trigger, too.
CREATE FUNCTION publish_layer4_lists() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT s.zone_id, 'port/' || p.id FROM sites s JOIN port_rules p ON p.site_id = s.id AND p.enabled
    WHERE s.id = coalesce(NEW.site_id, OLD.site_id);
  RETURN NULL;
END $$;
CREATE TRIGGER publish_ports AFTER INSERT OR DELETE OR UPDATE OF value, enabled, is_black ON layer4_lists
  FOR EACH ROW EXECUTE FUNCTION publish_layer4_lists();

SELECT watch('layer4_lists');
SELECT track('layer4_lists');
