-- AlterTable
ALTER TABLE "sites" ADD COLUMN     "forced_at" TIMESTAMPTZ(3);

-- One that lost its backup group meanwhile is where it was.
CREATE FUNCTION group_answering(group_id uuid, backup_group_id uuid, forced_at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN forced_at IS NULL THEN group_id ELSE coalesce(backup_group_id, group_id) END
$$;

CREATE OR REPLACE VIEW dns_wanted AS
  SELECT c.client_id, c.setting_id, t.label || '.' || c.name AS name, t.sets AS wanted
  FROM cnames c JOIN dns_targets t ON t.client_id = c.client_id
  UNION ALL
  SELECT c.client_id, c.setting_id, s.cname_label || '.' || c.name,
    jsonb_build_array(jsonb_build_object('line', 'default', 'type', 'CNAME', 'ttlSeconds', 300,
      'values', jsonb_build_array(jsonb_build_object('value', g.dns_label || '.' || c.name, 'weight', 1))))
  FROM cnames c JOIN sites s ON s.client_id = c.client_id
    JOIN groups g ON g.id = group_answering(s.group_id, s.backup_group_id, s.forced_at);

CREATE OR REPLACE FUNCTION plan_moved_sites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dns_plans (client_id)
    SELECT DISTINCT n.client_id FROM new_rows n JOIN old_rows o USING (id)
    WHERE (n.cname_label, group_answering(n.group_id, n.backup_group_id, n.forced_at))
        IS DISTINCT FROM (o.cname_label, group_answering(o.group_id, o.backup_group_id, o.forced_at))
      AND EXISTS (SELECT 1 FROM cnames c WHERE c.client_id = n.client_id);
  IF FOUND THEN PERFORM pg_notify('dns', ''); END IF;
  RETURN NULL;
END $$;
