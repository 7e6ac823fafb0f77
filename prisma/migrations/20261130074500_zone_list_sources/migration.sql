-- A source belongs to a site or to a zone.
ALTER TABLE list_sources ALTER COLUMN site_id DROP NOT NULL,
  ADD COLUMN zone_id uuid REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT list_sources_owner CHECK (num_nonnulls(site_id, zone_id) = 1);
CREATE INDEX list_sources_zone_id_id_idx ON list_sources (zone_id, id);

ALTER TABLE list_source_chunks ALTER COLUMN site_id DROP NOT NULL,
  ADD COLUMN zone_id uuid REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ADD CONSTRAINT list_source_chunks_owner CHECK (num_nonnulls(site_id, zone_id) = 1);
CREATE INDEX list_source_chunks_zone_id_idx ON list_source_chunks (zone_id);

CREATE OR REPLACE FUNCTION publish_list_source() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT coalesce(c.zone_id, s.zone_id), 'list/' || c.id
    FROM list_source_chunks c LEFT JOIN sites s ON s.id = c.site_id WHERE c.source_id = NEW.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION publish_list_source_chunk() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  chunk list_source_chunks := coalesce(NEW, OLD);
BEGIN
  -- A new and a removed list changes the lists that the document of the site or the zone names.
  INSERT INTO outbox (zone_id, key) SELECT z.id, k.key
    FROM zones z, (VALUES ('list/' || chunk.id, true),
      (CASE WHEN chunk.zone_id IS NULL THEN 'site/' || chunk.site_id ELSE 'zoneLists' END, TG_OP <> 'UPDATE')) k (key, changes)
    WHERE z.id = coalesce(chunk.zone_id, (SELECT s.zone_id FROM sites s WHERE s.id = chunk.site_id)) AND k.changes;
  RETURN NULL;
END $$;

-- Versions of sites do not contain the column of zones.
DROP TRIGGER track_insert ON list_sources;
DROP TRIGGER track_update ON list_sources;
DROP TRIGGER track_delete ON list_sources;
SELECT track('list_sources', '', 'zone_id');
