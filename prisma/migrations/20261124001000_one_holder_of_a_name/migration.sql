-- Only the functions of migration name_proofs change. After a move of a site one customer at most has claims of a name.

-- Serializes decisions on names with the same last two labels. Buckets bound the number of locks of a batch.
CREATE FUNCTION lock_names(names text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7313, b.bucket) FROM (
    SELECT DISTINCT hashtext(substring(n.name FROM '[^.]+\.[^.]+$')) & 255 AS bucket FROM unnest(names) n (name) ORDER BY 1) b;
END $$;

-- Names that the site's customer may enable only with a proof, whether or not the customer has given one.
CREATE FUNCTION names_needing_proof(site uuid, names text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN QUERY
    SELECT n.name FROM unnest(names) n (name), LATERAL (SELECT name_base(n.name) AS base) b,
      LATERAL (SELECT coalesce(s.owner_id, s.client_id) AS holder, coalesce(p.every_name, false) AS every_name
        FROM sites s LEFT JOIN name_proof_settings p ON p.client_id = s.client_id WHERE s.id = site) h
    WHERE NOT EXISTS (SELECT FROM name_claims c WHERE c.name = n.name AND c.holder_id = h.holder)
      AND (h.every_name
        OR EXISTS (SELECT FROM name_claims c WHERE c.base = ANY (names_above(b.base)) AND c.holder_id <> h.holder)
        OR EXISTS (SELECT FROM name_claims c WHERE c.holder_id <> h.holder
          AND c.reversed >= (reverse(b.base) || '.') AND c.reversed < (reverse(b.base) || '/')));
END $$;

-- Names that need a proof and have none from the last 7 days. The result does not reveal whose name overlaps.
CREATE OR REPLACE FUNCTION unproven_names(site uuid, names text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN QUERY
    SELECT n.name FROM names_needing_proof(site, names) n (name), sites s
    WHERE s.id = site AND NOT EXISTS (SELECT FROM name_proofs p
      WHERE p.holder_id = coalesce(s.owner_id, s.client_id) AND p.name = name_base(n.name)
        AND p.proven_at > now() - interval '7 days');
END $$;

-- As in name_proofs, but a claim that is enabled again gets the present holder and zone of its site.
CREATE OR REPLACE FUNCTION claim_names() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
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
  PERFORM lock_names(ARRAY(SELECT d.name FROM domains d WHERE d.id = ANY (fresh)));
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
    ON CONFLICT (domain_id) DO UPDATE SET enabled = true, holder_id = EXCLUDED.holder_id, zone_id = EXCLUDED.zone_id;
  -- A proof takes the name from a customer who had it and switched it off.
  DELETE FROM name_claims c USING name_claims n WHERE n.domain_id = ANY (fresh) AND c.name = n.name AND c.holder_id <> n.holder_id;
  RETURN NULL;
END $$;

-- A claim without a proof must not let the new customer enable a name that the former customer still has.
CREATE OR REPLACE FUNCTION move_claims() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  -- The locks of claim_names: a domain that is enabled at this moment gets its claim before or after the move.
  PERFORM lock_names(ARRAY(SELECT d.name FROM domains d WHERE d.site_id = NEW.id));
  -- All claims of these names, because one statement may move several sites.
  UPDATE name_claims c SET holder_id = coalesce(s.owner_id, s.client_id), zone_id = s.zone_id
    FROM domains m, domains d, sites s
    WHERE m.site_id = NEW.id AND c.name = m.name AND d.id = c.domain_id AND s.id = d.site_id
      AND (c.holder_id <> coalesce(s.owner_id, s.client_id) OR c.zone_id <> s.zone_id);
  -- An enabled name leaves the former customer with its site.
  DELETE FROM name_claims c USING domains m, name_claims n
    WHERE m.site_id = NEW.id AND n.domain_id = m.id AND n.enabled AND c.name = n.name AND c.holder_id <> n.holder_id;
  -- A name that is off stays with the former customer, if another of its sites has a claim.
  DELETE FROM name_claims n USING domains m, name_claims c
    WHERE m.site_id = NEW.id AND n.domain_id = m.id AND NOT n.enabled AND c.name = n.name AND c.holder_id <> n.holder_id;
  RETURN NULL;
END $$;

-- Claims that earlier moves left behind.
UPDATE name_claims c SET holder_id = coalesce(s.owner_id, s.client_id), zone_id = s.zone_id
  FROM domains d JOIN sites s ON s.id = d.site_id
  WHERE d.id = c.domain_id AND (c.holder_id <> coalesce(s.owner_id, s.client_id) OR c.zone_id <> s.zone_id);
DELETE FROM name_claims c USING name_claims o
  WHERE o.name = c.name AND o.holder_id <> c.holder_id AND NOT c.enabled AND (o.enabled OR o.domain_id < c.domain_id);
