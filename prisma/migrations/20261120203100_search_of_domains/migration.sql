-- What a domain is found by stands in one text with one index: a keyword that a hundred thousand domains share is counted
-- by looking at each row once, instead of by joining three answers.

-- DropIndex
DROP INDEX "domains_name_idx";

-- DropIndex
DROP INDEX "upstreams_address_idx";

-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "search" TEXT NOT NULL DEFAULT '';

CREATE FUNCTION search_of(d domains) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT lower(concat_ws(E'\n', d.name, nullif(array_to_string(d.tags, E'\n'), ''),
    (SELECT string_agg(DISTINCT u.address, E'\n') FROM upstreams u WHERE u.domain_id = d.id)))
$$;

UPDATE domains d SET search = search_of(d);

-- CreateIndex
CREATE INDEX "domains_search_idx" ON "domains" USING GIN ("search" gin_trgm_ops);

CREATE FUNCTION follow_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.search := search_of(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER domains_search BEFORE INSERT OR UPDATE OF name, tags, search ON domains
  FOR EACH ROW EXECUTE FUNCTION follow_search();

-- Whoever writes origins has locked their domains before: what is read here is what there is.
CREATE FUNCTION follow_origins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE domains d SET search = search_of(d)
    WHERE d.id IN (SELECT domain_id FROM written) AND d.search <> search_of(d);
  RETURN NULL;
END $$;
CREATE TRIGGER upstreams_search_insert AFTER INSERT ON upstreams REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();
CREATE TRIGGER upstreams_search_update AFTER UPDATE ON upstreams REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();
CREATE TRIGGER upstreams_search_delete AFTER DELETE ON upstreams REFERENCING OLD TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();

-- As before, without `search`: it says again what the row's other columns and its origins say.
CREATE OR REPLACE FUNCTION audit_row(entity text, keys text[], before jsonb, after jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  silent CONSTANT text[] := '{updated_at,search}';
  whole jsonb := coalesce(before, after);
  key jsonb := '{}';
  old_values jsonb;
  new_values jsonb;
  field text;
BEGIN
  FOREACH field IN ARRAY keys || '{name,email}' LOOP
    IF whole ? field THEN
      key := jsonb_set(key, ARRAY[field], audit_value(entity, field, whole->field));
    END IF;
  END LOOP;
  IF before IS NULL OR after IS NULL THEN
    SELECT jsonb_object_agg(e.key, audit_value(entity, e.key, e.value)) INTO new_values
      FROM jsonb_each(whole - silent) e WHERE e.value <> 'null';
    RETURN jsonb_build_object('key', key, CASE WHEN before IS NULL THEN 'after' ELSE 'before' END, new_values);
  END IF;
  SELECT jsonb_object_agg(e.key, audit_value(entity, e.key, before->e.key)), jsonb_object_agg(e.key, audit_value(entity, e.key, e.value))
    INTO old_values, new_values
    FROM jsonb_each(after - silent) e WHERE before->e.key IS DISTINCT FROM e.value;
  RETURN CASE WHEN new_values IS NOT NULL THEN jsonb_build_object('key', key, 'before', old_values, 'after', new_values) END;
END $$;
