CREATE TABLE firewall_lists (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    is_black boolean NOT NULL,
    value text[],
    expires jsonb DEFAULT '[]' NOT NULL,
    urls text[],
    methods text[],
    memo text NOT NULL,
    monitor boolean NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX firewall_lists_site_id_is_black_id_idx ON firewall_lists (site_id, is_black, id);

CREATE TABLE firewall_geos (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    is_black boolean NOT NULL,
    value text[],
    url_regex text NOT NULL,
    block_type smallint NOT NULL,
    monitor boolean NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX firewall_geos_site_id_id_idx ON firewall_geos (site_id, id);

CREATE TABLE user_agent_rules (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    value text[],
    url_regex text NOT NULL,
    block_type smallint NOT NULL,
    monitor boolean NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX user_agent_rules_site_id_id_idx ON user_agent_rules (site_id, id);

CREATE TABLE abuse_ips (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    score smallint NOT NULL,
    monitor boolean NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX abuse_ips_site_id_key ON abuse_ips (site_id);

-- A list is a document of its own. Copies and restored versions publish it by this trigger, too.
CREATE FUNCTION publish_firewall_list() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  list firewall_lists := coalesce(NEW, OLD);
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT s.zone_id, 'list/' || list.id FROM sites s WHERE s.id = list.site_id;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_list AFTER INSERT OR DELETE OR UPDATE OF value, expires, enabled ON firewall_lists
  FOR EACH ROW EXECUTE FUNCTION publish_firewall_list();

-- Region rules need the geo pack on the zone's nodes.
CREATE FUNCTION publish_geo_pack() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT s.zone_id, key FROM sites s, (SELECT 'pack/geo.' || n FROM generate_series(0, 31) n UNION ALL SELECT 'pack/geo') k (key)
    WHERE s.id = NEW.site_id
      AND NOT EXISTS (SELECT FROM edge_documents e WHERE e.zone_id = s.zone_id AND e.key = 'pack/geo' AND e.body IS NOT NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER publish_pack AFTER INSERT OR UPDATE OF enabled ON firewall_geos
  FOR EACH ROW WHEN (NEW.enabled) EXECUTE FUNCTION publish_geo_pack();

CREATE FUNCTION remove_firewall_lists() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT OLD.zone_id, 'list/' || id FROM firewall_lists WHERE site_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER remove_lists BEFORE DELETE ON sites FOR EACH ROW EXECUTE FUNCTION remove_firewall_lists();

SELECT watch('firewall_lists');
SELECT watch('firewall_geos');
SELECT watch('user_agent_rules');
SELECT watch('abuse_ips');
SELECT track('firewall_lists');
SELECT track('firewall_geos');
SELECT track('user_agent_rules');
SELECT track('abuse_ips');
