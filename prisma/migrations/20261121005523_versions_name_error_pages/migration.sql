-- What a page for an error is called is its code: its value is a whole page of HTML.
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
        (SELECT m.name FROM modules m WHERE m.id = (c.j->>'module_id')::uuid), c.j->>'code', c.j->'value'->>0, CASE WHEN c.j->>'type' = 'all' THEN '*' END,
        -- Of a port that the zone gave up: as it was called when the site opened it.
        CASE WHEN entity_of = 'site_ports' THEN (SELECT x.label FROM site_versions v JOIN site_changes x ON x.version_id = v.id
          WHERE v.site_id = (c.j->>'site_id')::uuid AND x.entity = 'site_ports' AND x.row_key = site_row_key(c.j, keys) LIMIT 1) END, ''), 300),
      c.before, c.after
    FROM changed c JOIN opened o ON o.site = c.j->>'site_id' WHERE o.id IS NOT NULL
$$;
