CREATE TABLE layer4_limit_conns (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    port integer NOT NULL,
    max integer NOT NULL,
    burst integer NOT NULL,
    delay integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    -- Checked after each statement: a restored version may swap two ports.
    CONSTRAINT layer4_limit_conns_site_id_port_key UNIQUE (site_id, port) DEFERRABLE INITIALLY IMMEDIATE
);
CREATE TRIGGER publish_ports AFTER INSERT OR DELETE OR UPDATE OF port, max, burst, enabled ON layer4_limit_conns
  FOR EACH ROW EXECUTE FUNCTION publish_layer4_rule();

SELECT watch('layer4_limit_conns');
SELECT track('layer4_limit_conns');
