-- Whether an operator has set DNS up is said by its settings.
ALTER TABLE "accounts" DROP COLUMN "dns_type";

-- What the provider calls our lines; null before anybody looked.
ALTER TABLE "dns_setting_states" DROP COLUMN "offered_lines", ADD COLUMN     "offered_lines" JSONB;

-- A site's name leads to its group's: when nodes change, a handful of sets does, however many sites there are.
CREATE OR REPLACE VIEW dns_wanted AS
  SELECT c.client_id, c.setting_id, t.label || '.' || c.name AS name, t.sets AS wanted
  FROM cnames c JOIN dns_targets t ON t.client_id = c.client_id
  UNION ALL
  SELECT c.client_id, c.setting_id, s.cname_label || '.' || c.name,
    jsonb_build_array(jsonb_build_object('line', 'default', 'type', 'CNAME', 'ttlSeconds', 300,
      'values', jsonb_build_array(jsonb_build_object('value', g.dns_label || '.' || c.name, 'weight', 1))))
  FROM cnames c JOIN sites s ON s.client_id = c.client_id JOIN groups g ON g.id = s.group_id;

CREATE FUNCTION plan_moved_sites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dns_plans (client_id)
    SELECT DISTINCT n.client_id FROM new_rows n JOIN old_rows o USING (id)
    WHERE (n.cname_label, n.group_id) IS DISTINCT FROM (o.cname_label, o.group_id)
      AND EXISTS (SELECT 1 FROM cnames c WHERE c.client_id = n.client_id);
  IF FOUND THEN PERFORM pg_notify('dns', ''); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER plan_insert AFTER INSERT ON sites REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON sites REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_moved_sites();
CREATE TRIGGER plan_delete AFTER DELETE ON sites REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();

-- Another account, or a comparison at once, wakes whoever reconciles.
CREATE FUNCTION notify_dns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('dns', '');
  RETURN NULL;
END $$;
CREATE TRIGGER wake_dns AFTER INSERT OR UPDATE ON dns_settings FOR EACH STATEMENT EXECUTE FUNCTION notify_dns();
CREATE TRIGGER wake_dns AFTER UPDATE OF list_due_at ON dns_setting_states FOR EACH STATEMENT EXECUTE FUNCTION notify_dns();
