-- What several thousand rows cost that change in one statement, and what a rule about every URL is called.

CREATE OR REPLACE FUNCTION track_changes() RETURNS trigger LANGUAGE plpgsql SET enable_nestloop = off SET jit = off AS $$
DECLARE
  keys text[] := string_to_array(TG_ARGV[0], ',');
  parent text := TG_ARGV[1];
  quiet text[] := string_to_array(TG_ARGV[2], ',');
  -- Raised by purges: part of a row that comes back, and no change of one that is there.
  still text[] := quiet || '{cache_version}';
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT EXISTS (SELECT FROM new_rows) THEN RETURN NULL; END IF;
    PERFORM track_pairs(TG_TABLE_NAME, keys, parent,
      (SELECT array_agg(jsonb_build_object('after', to_jsonb(n) - quiet)) FROM new_rows n));
  ELSIF TG_OP = 'DELETE' THEN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    PERFORM track_pairs(TG_TABLE_NAME, keys, parent,
      (SELECT array_agg(jsonb_build_object('before', to_jsonb(o) - quiet)) FROM old_rows o));
  ELSE
    -- Each row is made JSON once: without the bounds (OFFSET, MATERIALIZED) it would be for each use of it.
    PERFORM track_pairs(TG_TABLE_NAME, keys, parent, (
      WITH o AS MATERIALIZED (SELECT whole - still AS j, site_row_key(whole, keys) AS k FROM (SELECT to_jsonb(r) AS whole FROM old_rows r OFFSET 0) t),
        n AS MATERIALIZED (SELECT whole - still AS j, site_row_key(whole, keys) AS k FROM (SELECT to_jsonb(r) AS whole FROM new_rows r OFFSET 0) t)
      SELECT array_agg(jsonb_build_object('row', n.j,
        'before', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(o.j) WHERE n.j->key IS DISTINCT FROM value),
        'after', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(n.j) WHERE o.j->key IS DISTINCT FROM value)))
      FROM o JOIN n USING (k) WHERE o.j <> n.j));
  END IF;
  RETURN NULL;
END $$;


CREATE OR REPLACE FUNCTION track_pairs(entity_of text, keys text[], parent text, pairs jsonb[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT p->'before' AS before, p->'after' AS after, coalesce(p->'row', p->'after', p->'before') AS j FROM unnest(pairs) p
  ), opened AS MATERIALIZED (
    SELECT site, open_site_version(site::uuid) AS id FROM (SELECT DISTINCT j->>'site_id' AS site FROM changed) t
  )
  INSERT INTO site_changes (version_id, entity, row_key, parent_id, label, before, after)
    SELECT o.id, entity_of, site_row_key(c.j, keys), (c.j->>parent)::uuid,
      left(coalesce(c.j->>'name', (c.j->>'address') || ':' || (c.j->>'port'), (c.j->>'port') || '/' || (c.j->>'protocol'), c.j->>'source',
        (SELECT z.port::text FROM zone_ports z WHERE z.id = (c.j->>'zone_port_id')::uuid),
        (SELECT m.name FROM modules m WHERE m.id = (c.j->>'module_id')::uuid), c.j->'value'->>0, CASE WHEN c.j->>'type' = 'all' THEN '*' END, c.j->>'code',
        -- Of a port that the zone gave up: as it was called when the site opened it.
        CASE WHEN entity_of = 'site_ports' THEN (SELECT x.label FROM site_versions v JOIN site_changes x ON x.version_id = v.id
          WHERE v.site_id = (c.j->>'site_id')::uuid AND x.entity = 'site_ports' AND x.row_key = site_row_key(c.j, keys) LIMIT 1) END, ''), 300),
      c.before, c.after
    FROM changed c JOIN opened o ON o.site = c.j->>'site_id' WHERE o.id IS NOT NULL
$$;
