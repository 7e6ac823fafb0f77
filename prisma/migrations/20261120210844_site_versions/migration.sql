-- AlterTable
ALTER TABLE "domain_modules" ADD COLUMN     "site_id" UUID;

-- AlterTable
ALTER TABLE "port_upstreams" ADD COLUMN     "site_id" UUID;

-- CreateTable
CREATE TABLE "site_versions" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "version" INTEGER,
    "tx" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "req_id" UUID,
    "account_name" TEXT NOT NULL DEFAULT '',
    "proxy_name" TEXT NOT NULL DEFAULT '',
    "reason" TEXT NOT NULL DEFAULT '',
    "restores" INTEGER,
    "summary" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "site_versions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "site_changes" (
    "id" BIGSERIAL NOT NULL,
    "version_id" BIGINT NOT NULL,
    "entity" TEXT NOT NULL,
    "row_key" TEXT NOT NULL,
    "parent_id" UUID,
    "label" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "site_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "site_versions_at_idx" ON "site_versions"("at");

-- CreateIndex
CREATE UNIQUE INDEX "site_versions_site_id_version_key" ON "site_versions"("site_id", "version");

-- CreateIndex
CREATE UNIQUE INDEX "site_versions_site_id_tx_key" ON "site_versions"("site_id", "tx");

-- CreateIndex
CREATE INDEX "site_changes_version_id_idx" ON "site_changes"("version_id");

-- AddForeignKey
ALTER TABLE "site_versions" ADD CONSTRAINT "site_versions_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "site_changes" ADD CONSTRAINT "site_changes_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "site_versions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- A row that is taken along by the removal of its parent is seen when the parent is gone: it says itself whose it is.
UPDATE domain_modules m SET site_id = d.site_id FROM domains d WHERE d.id = m.domain_id;
UPDATE port_upstreams u SET site_id = r.site_id FROM port_rules r WHERE r.id = u.port_rule_id;
CREATE FUNCTION take_site() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'domain_modules' THEN
    NEW.site_id := (SELECT d.site_id FROM domains d WHERE d.id = NEW.domain_id);
  ELSE
    NEW.site_id := (SELECT r.site_id FROM port_rules r WHERE r.id = NEW.port_rule_id);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER domain_modules_take_site BEFORE INSERT ON domain_modules FOR EACH ROW EXECUTE FUNCTION take_site();
CREATE TRIGGER port_upstreams_take_site BEFORE INSERT ON port_upstreams FOR EACH ROW EXECUTE FUNCTION take_site();

CREATE AGGREGATE jsonb_merge(jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '{}');

-- What several changes of rows come to: each row once, as it was before the first of them and is after the last. Of a row
-- that was there all the time, the columns that some change was about.
CREATE FUNCTION fold_changes(versions bigint[])
RETURNS TABLE (entity text, row_key text, parent_id uuid, label text, before jsonb, after jsonb) LANGUAGE sql STABLE AS $$
  SELECT * FROM (
    SELECT c.entity, c.row_key,
      (array_agg(c.parent_id ORDER BY c.id DESC))[1] AS parent_id,
      (array_agg(c.label ORDER BY c.label = '', c.id DESC))[1] AS label,
      CASE WHEN (array_agg(c.before IS NULL ORDER BY c.id))[1] THEN NULL ELSE jsonb_merge(c.before ORDER BY c.id DESC) END AS before,
      CASE WHEN (array_agg(c.after IS NULL ORDER BY c.id DESC))[1] THEN NULL ELSE jsonb_merge(c.after ORDER BY c.id) END AS after
    FROM site_changes c WHERE c.version_id = ANY (versions) GROUP BY c.entity, c.row_key
  ) folded
  WHERE folded.before - 'cache_version' IS DISTINCT FROM folded.after - 'cache_version'
$$;

-- The site's version that this transaction is making. Null where the site itself is going.
CREATE FUNCTION open_site_version(site uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  current_tx bigint := pg_current_xact_id()::text::bigint;
  found bigint;
  call jsonb := nullif(current_setting('edgeloom.call', true), '')::jsonb;
  -- A roll-back says here why, and to which version.
  told jsonb := nullif(current_setting('edgeloom.version', true), '')::jsonb;
BEGIN
  SELECT v.id INTO found FROM site_versions v WHERE v.site_id = site AND v.tx = current_tx;
  IF found IS NULL THEN
    INSERT INTO site_versions (site_id, tx, req_id, account_name, proxy_name, reason, restores)
      SELECT s.id, current_tx, (call->>'reqID')::uuid,
        coalesce(nullif(call->>'accountName', ''), call->>'email', ''), coalesce(call->>'proxyName', ''),
        coalesce(told->>'reason', ''), (told->>'restores')::int
      FROM sites s WHERE s.id = site
      RETURNING id INTO found;
  END IF;
  RETURN found;
END $$;

-- Numbered at the end of the transaction, when it waits for nothing else any more: numbers follow the commits, without
-- gaps, and nobody waits in a circle. What comes to nothing is no version.
CREATE FUNCTION number_site_version() RETURNS trigger LANGUAGE plpgsql AS $$
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
  PERFORM pg_advisory_xact_lock(7305, hashtext(NEW.site_id::text));
  UPDATE site_versions SET tx = NULL, summary = told, at = clock_timestamp(),
    version = 1 + (SELECT coalesce(max(v.version), 0) FROM site_versions v WHERE v.site_id = NEW.site_id)
    WHERE id = NEW.id;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER site_versions_number AFTER INSERT ON site_versions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION number_site_version();

-- Sees every change of a site's configuration, removals by cascade included. Its arguments: the primary key, the column of
-- the parent, and the columns that are no configuration. The plan that is right for one row is kept for ten thousand, which
-- a nested loop would compare each with each.
CREATE FUNCTION track_changes() RETURNS trigger LANGUAGE plpgsql SET enable_nestloop = off SET jit = off AS $$
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
    -- Materialized: otherwise a row would be made JSON again for each of its columns.
    PERFORM track_pairs(TG_TABLE_NAME, keys, parent, (
      WITH o AS MATERIALIZED (SELECT to_jsonb(r) - still AS j, site_row_key(to_jsonb(r), keys) AS k FROM old_rows r),
        n AS MATERIALIZED (SELECT to_jsonb(r) - still AS j, site_row_key(to_jsonb(r), keys) AS k FROM new_rows r)
      SELECT array_agg(jsonb_build_object('row', n.j,
        'before', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(o.j) WHERE n.j->key IS DISTINCT FROM value),
        'after', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(n.j) WHERE o.j->key IS DISTINCT FROM value)))
      FROM o JOIN n USING (k) WHERE o.j <> n.j));
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION site_row_key(content jsonb, keys text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(keys) = 1 THEN content->>keys[1]
    ELSE (SELECT string_agg(content->>k, ' ' ORDER BY n) FROM unnest(keys) WITH ORDINALITY t (k, n)) END
$$;

CREATE FUNCTION track_pairs(entity_of text, keys text[], parent text, pairs jsonb[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT p->'before' AS before, p->'after' AS after, coalesce(p->'row', p->'after', p->'before') AS j FROM unnest(pairs) p
  ), opened AS MATERIALIZED (
    SELECT site, open_site_version(site::uuid) AS id FROM (SELECT DISTINCT j->>'site_id' AS site FROM changed) t
  )
  INSERT INTO site_changes (version_id, entity, row_key, parent_id, label, before, after)
    SELECT o.id, entity_of, site_row_key(c.j, keys), (c.j->>parent)::uuid,
      left(coalesce(c.j->>'name', (c.j->>'address') || ':' || (c.j->>'port'), (c.j->>'port') || '/' || (c.j->>'protocol'), c.j->>'source',
        (SELECT z.port::text FROM zone_ports z WHERE z.id = (c.j->>'zone_port_id')::uuid),
        (SELECT m.name FROM modules m WHERE m.id = (c.j->>'module_id')::uuid), c.j->'value'->>0, c.j->>'code',
        -- Of a port that the zone gave up: as it was called when the site opened it.
        CASE WHEN entity_of = 'site_ports' THEN (SELECT x.label FROM site_versions v JOIN site_changes x ON x.version_id = v.id
          WHERE v.site_id = (c.j->>'site_id')::uuid AND x.entity = 'site_ports' AND x.row_key = site_row_key(c.j, keys) LIMIT 1) END, ''), 300),
      c.before, c.after
    FROM changed c JOIN opened o ON o.site = c.j->>'site_id' WHERE o.id IS NOT NULL
$$;

-- Every table of a site's configuration is tracked: a migration that makes one says SELECT track('its_name'), with the
-- column of the parent and what is no configuration, where there is such. The table has a site_id.
CREATE FUNCTION track(target regclass, parent text DEFAULT '', quiet text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  key text;
BEGIN
  SELECT string_agg(a.attname, ',' ORDER BY array_position(i.indkey::int[], a.attnum::int)) INTO key
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = target AND i.indisprimary;
  quiet := concat_ws(',', 'updated_at', nullif(quiet, ''));
  EXECUTE format('CREATE TRIGGER track_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes(%L, %L, %L)', target, key, parent, quiet);
  EXECUTE format('CREATE TRIGGER track_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes(%L, %L, %L)', target, key, parent, quiet);
  EXECUTE format('CREATE TRIGGER track_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes(%L, %L, %L)', target, key, parent, quiet);
END $$;

SELECT track('domains', '', 'enabled_name,search,cname_status,cname_due_at,cert_status'),
  track('upstreams', 'domain_id'), track('anti_referers', 'domain_id'), track('anti_headers', 'domain_id'),
  track('modules'), track('domain_modules', 'domain_id'), track('redirects', 'module_id'),
  track('cache_rules'), track('cache_settings'), track('compressions'), track('rates'), track('error_pages'),
  track('site_ports'), track('port_rules'), track('port_upstreams', 'port_rule_id');
