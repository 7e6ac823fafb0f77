-- The hours of a batch. Rows of an earlier release have none, which stands for any hour.
ALTER TABLE pending_tops ADD COLUMN hours TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}';

-- Hours that began before this release lack user agents and referers. A removed value marks them as incomplete.
INSERT INTO top_groups (at, site_id, type, size, removed)
  SELECT DISTINCT g.at, g.site_id, added.type, 0, 1 FROM top_groups g, unnest(ARRAY[101, 102]) AS added (type);
