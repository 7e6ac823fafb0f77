CREATE TABLE crawlers (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    category text NOT NULL,
    action text NOT NULL,
    per_minute integer NOT NULL,
    monitor boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX crawlers_site_id_category_key ON crawlers (site_id, category);

-- As before, and the label of a crawler rule is its category.
CREATE OR REPLACE FUNCTION track_pairs(entity_of text, keys text[], parent text, pairs jsonb[]) RETURNS void
    LANGUAGE sql
    AS $$
  WITH changed AS MATERIALIZED (
    SELECT p->'before' AS before, p->'after' AS after, coalesce(p->'row', p->'after', p->'before') AS j FROM unnest(pairs) p
  ), opened AS MATERIALIZED (
    SELECT site, open_site_version(site::uuid) AS id FROM (SELECT DISTINCT j->>'site_id' AS site FROM changed) t
  )
  INSERT INTO site_changes (version_id, entity, row_key, parent_id, label, before, after)
    SELECT o.id, entity_of, site_row_key(c.j, keys), (c.j->>parent)::uuid,
      left(coalesce(c.j->>'name', (c.j->>'address') || ':' || (c.j->>'port'), (c.j->>'port') || '/' || (c.j->>'protocol'), c.j->>'source',
        (SELECT z.port::text FROM zone_ports z WHERE z.id = (c.j->>'zone_port_id')::uuid),
        (SELECT m.name FROM modules m WHERE m.id = (c.j->>'module_id')::uuid), c.j->>'category', c.j->>'code', c.j->'value'->>0, CASE WHEN c.j->>'type' = 'all' THEN '*' END,
        -- For a port that the zone removed: its name when the site opened it.
        CASE WHEN entity_of = 'site_ports' THEN (SELECT x.label FROM site_versions v JOIN site_changes x ON x.version_id = v.id
          WHERE v.site_id = (c.j->>'site_id')::uuid AND x.entity = 'site_ports' AND x.row_key = site_row_key(c.j, keys) LIMIT 1) END, ''), 300),
      c.before, c.after
    FROM changed c JOIN opened o ON o.site = c.j->>'site_id' WHERE o.id IS NOT NULL
$$;

SELECT watch('crawlers');
SELECT track('crawlers');
