CREATE TABLE list_sources (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    name text NOT NULL,
    url text NOT NULL,
    is_black boolean NOT NULL,
    monitor boolean NOT NULL,
    interval_minutes integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX list_sources_site_id_id_idx ON list_sources (site_id, id);

CREATE TABLE list_source_states (
    source_id uuid PRIMARY KEY REFERENCES list_sources(id) ON UPDATE CASCADE ON DELETE CASCADE,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    started_at timestamp(3) with time zone,
    checked_at timestamp(3) with time zone,
    fetched_at timestamp(3) with time zone,
    etag text,
    error text,
    status integer,
    failures integer DEFAULT 0 NOT NULL,
    entries integer DEFAULT 0 NOT NULL,
    added integer DEFAULT 0 NOT NULL,
    removed integer DEFAULT 0 NOT NULL,
    rejected integer DEFAULT 0 NOT NULL
);
CREATE INDEX list_source_states_due_at_idx ON list_source_states (due_at);

CREATE TABLE list_source_chunks (
    id uuid PRIMARY KEY,
    source_id uuid NOT NULL REFERENCES list_sources(id) ON UPDATE CASCADE ON DELETE CASCADE,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    position integer NOT NULL,
    value text[]
);
CREATE UNIQUE INDEX list_source_chunks_source_id_position_key ON list_source_chunks (source_id, position);
CREATE INDEX list_source_chunks_site_id_idx ON list_source_chunks (site_id);

-- Copies and restored versions insert sources, too. Entries of another URL are no copy of this one.
CREATE FUNCTION begin_list_source() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM list_source_states WHERE source_id = NEW.id;
  DELETE FROM list_source_chunks WHERE source_id = NEW.id;
  INSERT INTO list_source_states (source_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER begin_source AFTER INSERT ON list_sources FOR EACH ROW EXECUTE FUNCTION begin_list_source();
CREATE TRIGGER begin_again AFTER UPDATE OF url ON list_sources
  FOR EACH ROW WHEN (OLD.url <> NEW.url) EXECUTE FUNCTION begin_list_source();

CREATE FUNCTION publish_list_source() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT s.zone_id, 'list/' || c.id
    FROM list_source_chunks c JOIN sites s ON s.id = c.site_id WHERE c.source_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_lists AFTER UPDATE OF enabled ON list_sources
  FOR EACH ROW WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled) EXECUTE FUNCTION publish_list_source();

CREATE FUNCTION hasten_list_source() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE list_source_states SET due_at = least(due_at, now() + NEW.interval_minutes * interval '1 minute')
    WHERE source_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER hasten_source AFTER UPDATE OF interval_minutes ON list_sources
  FOR EACH ROW WHEN (NEW.interval_minutes < OLD.interval_minutes) EXECUTE FUNCTION hasten_list_source();

CREATE FUNCTION publish_list_source_chunk() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  chunk list_source_chunks := coalesce(NEW, OLD);
BEGIN
  -- A new and a removed list changes the lists that the site's document names.
  INSERT INTO outbox (zone_id, key) SELECT s.zone_id, k.key
    FROM sites s, (VALUES ('list/' || chunk.id, true), ('site/' || chunk.site_id, TG_OP <> 'UPDATE')) k (key, changes)
    WHERE s.id = chunk.site_id AND k.changes;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_list AFTER INSERT OR DELETE OR UPDATE OF value ON list_source_chunks
  FOR EACH ROW EXECUTE FUNCTION publish_list_source_chunk();

CREATE OR REPLACE FUNCTION remove_firewall_lists() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT OLD.zone_id, 'list/' || l.id FROM (
    SELECT id FROM firewall_lists WHERE site_id = OLD.id
    UNION ALL SELECT id FROM list_source_chunks WHERE site_id = OLD.id) l;
  RETURN OLD;
END $$;

SELECT watch('list_sources');
SELECT track('list_sources');
