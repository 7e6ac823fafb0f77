-- A lock of its own (core/locks.ts): by 7305 the documents of zones are published.
CREATE OR REPLACE FUNCTION number_site_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  told jsonb;
BEGIN
  SELECT jsonb_agg(jsonb_build_object('entity', entity, 'added', added, 'changed', changed, 'removed', removed, 'names', names) ORDER BY entity)
    INTO told FROM (
      SELECT entity, count(*) FILTER (WHERE before IS NULL) AS added, count(*) FILTER (WHERE before IS NOT NULL AND after IS NOT NULL) AS changed,
        count(*) FILTER (WHERE after IS NULL) AS removed, (array_agg(label ORDER BY label, row_key))[1:3] AS names
      FROM fold_changes(ARRAY[NEW.id]) GROUP BY entity
    ) t;
  IF told IS NULL THEN
    DELETE FROM site_versions WHERE id = NEW.id;
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(7308, hashtext(NEW.site_id::text));
  UPDATE site_versions SET tx = NULL, summary = told, at = clock_timestamp(),
    version = 1 + (SELECT coalesce(max(v.version), 0) FROM site_versions v WHERE v.site_id = NEW.site_id)
    WHERE id = NEW.id;
  RETURN NULL;
END $$;
