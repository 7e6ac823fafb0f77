CREATE TABLE layer4_positions (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    port integer NOT NULL,
    black_pos smallint NOT NULL,
    white_pos smallint NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    -- Checked after each statement: a restored version may swap two ports.
    CONSTRAINT layer4_positions_site_id_port_key UNIQUE (site_id, port) DEFERRABLE INITIALLY IMMEDIATE
);

-- A rule of a port is in the documents of the forwards with this port.
CREATE FUNCTION publish_layer4_rule() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT s.zone_id, 'port/' || p.id FROM sites s JOIN port_rules p ON p.site_id = s.id AND p.enabled
    WHERE s.id = coalesce(NEW.site_id, OLD.site_id) AND p.port IN (OLD.port, NEW.port);
  RETURN NULL;
END $$;
CREATE TRIGGER publish_ports AFTER INSERT OR DELETE OR UPDATE OF port, black_pos, white_pos ON layer4_positions
  FOR EACH ROW EXECUTE FUNCTION publish_layer4_rule();

SELECT watch('layer4_positions');
SELECT track('layer4_positions');
