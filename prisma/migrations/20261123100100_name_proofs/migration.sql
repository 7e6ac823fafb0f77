-- CreateTable
CREATE TABLE "name_claims" (
    "domain_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "base" TEXT NOT NULL,
    "reversed" TEXT COLLATE "C" NOT NULL,
    "parent" TEXT NOT NULL,
    "holder_id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL,

    CONSTRAINT "name_claims_pkey" PRIMARY KEY ("domain_id")
);

-- CreateTable
CREATE TABLE "name_proofs" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "holder_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "asked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "looked_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "seen" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "proven_at" TIMESTAMPTZ(3),

    CONSTRAINT "name_proofs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "proof_tokens" (
    "holder_id" UUID NOT NULL,
    "token" TEXT NOT NULL,

    CONSTRAINT "proof_tokens_pkey" PRIMARY KEY ("holder_id")
);

-- CreateTable
CREATE TABLE "name_proof_settings" (
    "client_id" UUID NOT NULL,
    "every_name" BOOLEAN NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "name_proof_settings_pkey" PRIMARY KEY ("client_id")
);

-- CreateIndex
CREATE INDEX "name_claims_name_idx" ON "name_claims"("name");

-- CreateIndex
CREATE INDEX "name_claims_base_idx" ON "name_claims"("base");

-- CreateIndex
CREATE INDEX "name_claims_reversed_idx" ON "name_claims"("reversed");

-- CreateIndex
CREATE INDEX "name_claims_parent_idx" ON "name_claims"("parent");

-- CreateIndex
CREATE UNIQUE INDEX "name_proofs_holder_id_name_key" ON "name_proofs"("holder_id", "name");

-- CreateIndex
CREATE INDEX "name_proofs_due_at_idx" ON "name_proofs"("due_at");

-- AddForeignKey
ALTER TABLE "name_claims" ADD CONSTRAINT "name_claims_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "name_proof_settings" ADD CONSTRAINT "name_proof_settings_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

CREATE FUNCTION name_base(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN name LIKE '*.%' THEN substr(name, 3) ELSE name END
$$;

CREATE FUNCTION iso_time(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The name itself and every name above it.
CREATE FUNCTION names_above(base text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(array_to_string(labels[i:], '.')) FROM string_to_array(base, '.') labels, generate_subscripts(labels, 1) i
$$;

-- Which of these names the customer of a site may not enable before a proof. The answer does not say whose name stands in the way.
-- A name that the customer has on another domain needs none.
CREATE FUNCTION unproven_names(site uuid, names text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN QUERY
    SELECT n.name FROM unnest(names) n (name), LATERAL (SELECT name_base(n.name) AS base) b,
      LATERAL (SELECT coalesce(s.owner_id, s.client_id) AS holder, coalesce(p.every_name, false) AS every_name
        FROM sites s LEFT JOIN name_proof_settings p ON p.client_id = s.client_id WHERE s.id = site) h
    WHERE NOT EXISTS (SELECT FROM name_claims c WHERE c.name = n.name AND c.holder_id = h.holder)
      AND NOT EXISTS (SELECT FROM name_proofs p
        WHERE p.holder_id = h.holder AND p.name = b.base AND p.proven_at > now() - interval '7 days')
      AND (h.every_name
        OR EXISTS (SELECT FROM name_claims c WHERE c.base = ANY (names_above(b.base)) AND c.holder_id <> h.holder)
        OR EXISTS (SELECT FROM name_claims c WHERE c.holder_id <> h.holder
          AND c.reversed >= (reverse(b.base) || '.') AND c.reversed < (reverse(b.base) || '/')));
END $$;

-- Decides who has a name, whichever statement enables it. Claims of names with the same last two labels are decided one after the
-- other; the locks are taken in one order, and there are few of them, so that a batch cannot fill the lock table.
-- A plan that was made while the table was small must not scan it once for each of ten thousand names.
CREATE FUNCTION claim_names() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
DECLARE
  fresh uuid[];
  gone uuid[];
  refused text[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(n.id) INTO fresh FROM new_rows n WHERE n.enabled;
  ELSE
    SELECT array_agg(id) INTO gone FROM (SELECT id, name, site_id FROM old_rows EXCEPT SELECT id, name, site_id FROM new_rows) r;
    IF gone IS NOT NULL THEN DELETE FROM name_claims WHERE domain_id = ANY (gone); END IF;
    SELECT array_agg(id) INTO gone FROM (SELECT id FROM old_rows WHERE enabled EXCEPT SELECT id FROM new_rows WHERE enabled) r;
    IF gone IS NOT NULL THEN UPDATE name_claims SET enabled = false WHERE domain_id = ANY (gone); END IF;
    SELECT array_agg(id) INTO fresh FROM (
      SELECT id, name, site_id FROM new_rows WHERE enabled EXCEPT SELECT id, name, site_id FROM old_rows WHERE enabled) r;
  END IF;
  IF fresh IS NULL THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(7313, b.bucket) FROM (
    SELECT DISTINCT hashtext(substring(d.name FROM '[^.]+\.[^.]+$')) & 255 AS bucket FROM domains d WHERE d.id = ANY (fresh) ORDER BY 1) b;
  SELECT array_agg(u.name) INTO refused FROM (
    SELECT d.site_id, array_agg(d.name) AS names FROM domains d WHERE d.id = ANY (fresh) GROUP BY d.site_id) g,
    unproven_names(g.site_id, g.names) u (name);
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'unproven_name: % needs a proof', refused[1] USING ERRCODE = 'unique_violation', CONSTRAINT = 'unproven_name';
  END IF;
  INSERT INTO name_claims (domain_id, name, base, reversed, parent, holder_id, zone_id, enabled)
    SELECT d.id, d.name, name_base(d.name), reverse(name_base(d.name)), substr(d.name, strpos(d.name, '.') + 1),
      coalesce(s.owner_id, s.client_id), s.zone_id, true
    FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.id = ANY (fresh)
    ON CONFLICT (domain_id) DO UPDATE SET enabled = true;
  -- A proof takes the name from a customer who had it and switched it off.
  DELETE FROM name_claims c USING name_claims n WHERE n.domain_id = ANY (fresh) AND c.name = n.name AND c.holder_id <> n.holder_id;
  RETURN NULL;
END $$;
CREATE TRIGGER claim_insert AFTER INSERT ON domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION claim_names();
CREATE TRIGGER claim_update AFTER UPDATE ON domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION claim_names();

CREATE FUNCTION move_claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE name_claims c SET holder_id = coalesce(NEW.owner_id, NEW.client_id), zone_id = NEW.zone_id
    FROM domains d WHERE d.site_id = NEW.id AND c.domain_id = d.id;
  RETURN NULL;
END $$;
CREATE TRIGGER sites_move_claims AFTER UPDATE OF owner_id, zone_id ON sites FOR EACH ROW
  WHEN (OLD.zone_id <> NEW.zone_id OR OLD.owner_id IS DISTINCT FROM NEW.owner_id) EXECUTE FUNCTION move_claims();

-- A name that its customer switched off has a document in each zone where a wildcard of another customer covers it (load.ts).
CREATE FUNCTION publish_covered_names() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT r.zone_id, 'host/' || c.name FROM changed_rows r JOIN name_claims c ON c.parent = r.parent
      WHERE r.name LIKE '*.%' AND c.name NOT LIKE '*.%' AND NOT c.enabled AND c.holder_id <> r.holder_id
    UNION
    SELECT w.zone_id, 'host/' || r.name FROM changed_rows r JOIN name_claims w ON w.name = '*.' || r.parent
      WHERE r.name NOT LIKE '*.%' AND w.enabled AND w.holder_id <> r.holder_id;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_insert AFTER INSERT ON name_claims REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_update AFTER UPDATE ON name_claims REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_update_from AFTER UPDATE ON name_claims REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_delete AFTER DELETE ON name_claims REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();

SELECT watch('name_proof_settings');

-- Names that are on stay on without a proof.
INSERT INTO name_claims (domain_id, name, base, reversed, parent, holder_id, zone_id, enabled)
  SELECT d.id, d.name, name_base(d.name), reverse(name_base(d.name)), substr(d.name, strpos(d.name, '.') + 1),
    coalesce(s.owner_id, s.client_id), s.zone_id, true
  FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.enabled;
