-- The first schema. Constraints, triggers and functions that Prisma cannot express are here as well.
-- Functions are created before the tables that they use.
SET check_function_bodies = false;

-- Extensions

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Types

CREATE TYPE account_kind AS ENUM (
    'user',
    'client',
    'admin'
);

CREATE TYPE account_status AS ENUM (
    'normal',
    'pause',
    'lock',
    'expired'
);

CREATE TYPE site_status AS ENUM (
    'normal',
    'pause',
    'limit',
    'lock',
    'expired'
);

-- Functions

-- A zone's key is replaced when a node leaves the zone: removed, moved, installed again or uninstalled.
CREATE FUNCTION ask_zone_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO zone_key_changes (id, zone_id, cause, reason) VALUES (gen_random_uuid(), OLD.zone_id, 'nodeLeft', OLD.name)
  ON CONFLICT (zone_id) WHERE state = 'waiting' DO NOTHING;
  RETURN NULL;
END $$;

-- Appends the row of a call to its hash chain.
CREATE FUNCTION audit_append(call jsonb, status integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  r audit_rows;
  head audit_heads;
BEGIN
  r.req_id := call->>'reqID';
  r.client_id := call->>'clientId';
  r.root_id := call->>'rootId';
  r.account_id := call->>'accountId';
  r.account_name := coalesce(call->>'accountName', '');
  r.email := coalesce(call->>'email', '');
  r.proxy_id := call->>'proxyId';
  r.proxy_name := coalesce(call->>'proxyName', '');
  r.method := call->>'method';
  r.path := call->>'path';
  r.status := status;
  r.address := call->>'address';
  r.action_id := call->>'actionId';
  -- A sign-in has no session yet. Its row belongs to the account with this e-mail.
  IF r.account_id IS NULL AND r.email <> '' THEN
    SELECT a.id, a.client_id, CASE WHEN a.is_root THEN a.id ELSE a.parent_id END, a.name INTO r.account_id, r.client_id, r.root_id, r.account_name
      FROM accounts a WHERE a.kind = (call->>'kind')::account_kind AND a.email = r.email;
    r.account_name := coalesce(r.account_name, '');
  END IF;
  WITH taken AS (DELETE FROM audit_changes WHERE req_id = r.req_id RETURNING *)
  SELECT coalesce(jsonb_agg(jsonb_build_object('entity', entity, 'action', action, 'count', count, 'rows', rows) ORDER BY id), '[]')
    INTO r.changes FROM (SELECT * FROM taken ORDER BY id LIMIT 100) t;
  r.context := coalesce(call->'context', '{}')
    || jsonb_build_object('targets', audit_targets(coalesce(call->'context'->'targets', '[]'), r.changes));
  -- Changes after the response get a separate row.
  IF status = 0 AND EXISTS (SELECT 1 FROM audit_rows a WHERE a.req_id = r.req_id) THEN
    r.req_id := gen_random_uuid();
  END IF;

  r.chain := coalesce(r.client_id, nobody);
  SELECT * INTO head FROM audit_heads h WHERE h.chain = r.chain FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO audit_heads (chain, seq, hash) VALUES (r.chain, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_heads h WHERE h.chain = r.chain FOR UPDATE;
  END IF;
  r.seq := head.seq + 1;
  r.at := date_trunc('milliseconds', clock_timestamp());
  r.hash := sha256(head.hash || audit_content(r));
  INSERT INTO audit_rows SELECT (r).*;
  UPDATE audit_heads h SET seq = r.seq, hash = r.hash WHERE h.chain = r.chain;
END $$;

-- Records all changes of a call: one row per statement, with the values before and after of the first 100 rows.
-- Arguments: the columns of the primary key.
CREATE FUNCTION audit_capture() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  call jsonb := current_setting('edgeloom.call');
  keys text[] := TG_ARGV;
  total int;
  found jsonb;
  row_before jsonb;
  row_after jsonb;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT count(*) INTO total FROM new_rows;
    SELECT jsonb_agg(audit_row(TG_TABLE_NAME, keys, NULL, j)) INTO found FROM (SELECT to_jsonb(n) AS j FROM new_rows n LIMIT 100) t;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO total FROM old_rows;
    SELECT jsonb_agg(audit_row(TG_TABLE_NAME, keys, j, NULL)) INTO found FROM (SELECT to_jsonb(o) AS j FROM old_rows o LIMIT 100) t;
  ELSE
    SELECT count(*) INTO total FROM new_rows;
    IF total = 1 THEN
      SELECT to_jsonb(o), to_jsonb(n) INTO row_before, row_after FROM old_rows o, new_rows n;
      found := audit_row(TG_TABLE_NAME, keys, row_before, row_after);
      total := CASE WHEN found IS NULL THEN 0 ELSE 1 END;
      found := jsonb_build_array(found);
    ELSIF total > 1 THEN
      WITH pairs AS (
        SELECT o.j AS a, n.j AS b
        FROM (SELECT to_jsonb(o) AS j FROM old_rows o) o
        JOIN (SELECT to_jsonb(n) AS j FROM new_rows n) n
          ON (SELECT string_agg(o.j->>k, ' ') FROM unnest(keys) k) = (SELECT string_agg(n.j->>k, ' ') FROM unnest(keys) k)
        WHERE o.j - 'updated_at' <> n.j - 'updated_at'
      )
      SELECT (SELECT count(*) FROM pairs), (SELECT jsonb_agg(audit_row(TG_TABLE_NAME, keys, a, b)) FROM (SELECT * FROM pairs LIMIT 100) t)
        INTO total, found;
    END IF;
  END IF;
  IF total > 0 THEN
    INSERT INTO audit_changes (req_id, call, entity, action, count, rows)
      VALUES ((call->>'reqID')::uuid, call, TG_TABLE_NAME, lower(TG_OP), total, found);
  END IF;
  RETURN NULL;
END $$;

-- Tables

CREATE TABLE audit_rows (
    req_id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    client_id uuid,
    account_id uuid,
    email text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status smallint NOT NULL,
    address text NOT NULL,
    account_name text DEFAULT ''::text NOT NULL,
    chain uuid NOT NULL,
    changes jsonb DEFAULT '[]'::jsonb NOT NULL,
    hash bytea NOT NULL,
    proxy_id uuid,
    proxy_name text DEFAULT ''::text NOT NULL,
    root_id uuid,
    seq bigint NOT NULL,
    context jsonb NOT NULL,
    action_id uuid
);

-- Functions

-- The hashed content of a row. `action_id` is included only if present.
CREATE FUNCTION audit_content(r audit_rows) RETURNS bytea
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT convert_to(string_agg(octet_length(part) || ':' || part, '' ORDER BY n), 'UTF8')
  FROM unnest(ARRAY[
    r.chain::text, r.seq::text, r.req_id::text, (extract(epoch FROM r.at) * 1000)::bigint::text,
    coalesce(r.client_id::text, ''), coalesce(r.root_id::text, ''), coalesce(r.account_id::text, ''),
    r.account_name, r.email, coalesce(r.proxy_id::text, ''), r.proxy_name,
    r.method, r.path, r.status::text, r.address, r.changes::text, r.context::text
  ] || CASE WHEN r.action_id IS NULL THEN '{}' ELSE ARRAY[r.action_id::text] END) WITH ORDINALITY AS t (part, n)
$$;

CREATE FUNCTION audit_keep() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'audit rows are written once';
END $$;

-- Status codes are not secret, and secret codes are stored as hashes.
CREATE FUNCTION audit_masks(entity text, field text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT (field ~ '(password|hash|key|token|secret|sealed|credential|successor|challenge|proof)'
      AND NOT entity || '.' || field = ANY ('{domains.hash_type,jobs.doc_keys,nodes.public_key,revoked_keys.public_key,sessions.api_token_id,brand_images.hash}'))
    OR entity || '.' || field = ANY ('{recovery_codes.id,authenticator_setups.id}')
$$;

-- Without `search`, which repeats other columns.
CREATE FUNCTION audit_row(entity text, keys text[], before jsonb, after jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
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

-- At most 100 objects of a call: those that the input names, then those that it changed. Names are from before the call.
CREATE FUNCTION audit_targets(named jsonb, changes jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'name', name) ORDER BY place), '[]') FROM (
    SELECT kind, id, (array_agg(name ORDER BY place))[1] AS name, min(place) AS place FROM (
      SELECT n.place, n.value->>'kind' AS kind, n.value->>'id' AS id, n.value->>'name' AS name
        FROM jsonb_array_elements(named) WITH ORDINALITY n (value, place)
      UNION ALL
      SELECT c.place * 1000 + r.place, c.value->>'entity', r.value->'key'->>'id', left(coalesce(
          nullif(r.value->'key'->>'name', ''), r.value->'key'->>'email',
          r.value->'after'->>'title', r.value->'before'->>'title', r.value->'after'->>'port', r.value->'before'->>'port'), 256)
        FROM jsonb_array_elements(changes) WITH ORDINALITY c (value, place)
        CROSS JOIN jsonb_array_elements(c.value->'rows') WITH ORDINALITY r (value, place)
    ) found WHERE id IS NOT NULL AND name NOT IN ('', '•••') GROUP BY kind, id ORDER BY min(place) LIMIT 100
  ) kept
$$;

-- A value for the audit log: secrets masked, long values truncated.
CREATE FUNCTION audit_value(entity text, field text, value jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE
    WHEN value = 'null' THEN value
    WHEN audit_masks(entity, field) THEN '"•••"'
    WHEN length(value::text) > 2000 THEN to_jsonb(left(value::text, 2000) || '…')
    ELSE value END
$$;

CREATE FUNCTION claim_forward() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = NEW.id;
  INSERT INTO port_claims (zone_id, protocol, port, holder)
    SELECT zone_id, NEW.protocol, NEW.port, NEW.id FROM sites WHERE id = NEW.site_id;
  RETURN NULL;
END $$;

-- A claim that is enabled again gets the current account and zone of its site.
CREATE FUNCTION claim_names() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
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

CREATE FUNCTION claim_zone_port() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = NEW.id;
  INSERT INTO port_claims (zone_id, protocol, port, holder) VALUES (NEW.zone_id, 'tcp', NEW.port, NEW.id), (NEW.zone_id, 'udp', NEW.port, NEW.id);
  RETURN NULL;
END $$;

-- A node that joins again may have an empty disk. A node that leaves or becomes a relay has nothing to prefetch.
CREATE FUNCTION copies_of_node() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM preheat_copies c USING preheat_caches p
    WHERE c.node_id = NEW.id AND p.id = c.preheat_id AND (p.zone_id <> NEW.zone_id OR NEW.joined_at IS NULL OR NEW.kind <> 'edge');
  INSERT INTO preheat_copies (preheat_id, node_id)
    SELECT p.id, NEW.id FROM preheat_caches p WHERE p.zone_id = NEW.zone_id AND NEW.joined_at IS NOT NULL AND NEW.kind = 'edge'
    ON CONFLICT (preheat_id, node_id) DO UPDATE SET state = 'waiting', fault = NULL, tries = 0, due_at = now();
  RETURN NULL;
END $$;

-- Each edge node of the zone has a row per URL, regardless of the order in which they were added.
CREATE FUNCTION copies_of_preheats() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO preheat_copies (preheat_id, node_id)
    SELECT p.id, n.id FROM new_rows p JOIN nodes n ON n.zone_id = p.zone_id AND n.joined_at IS NOT NULL AND n.kind = 'edge';
  RETURN NULL;
END $$;

-- A block set that no node uses any more is emptied at once. Writers lock the set, so concurrent blocks are removed as well.
CREATE FUNCTION empty_block_set() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM zone_versions v WHERE v.zone_id = NEW.zone_id AND v.state IN ('live', 'trial')
      AND coalesce((v.content -> 'ipset' ->> 'enabled')::bool, false)) THEN
    INSERT INTO block_sets (zone_id) VALUES (NEW.zone_id) ON CONFLICT DO NOTHING;
    PERFORM FROM block_sets WHERE zone_id = NEW.zone_id FOR UPDATE;
    UPDATE block_sets SET revision = revision + 1, flushed = revision + 1, refused = 0 WHERE zone_id = NEW.zone_id AND flushed < revision;
  END IF;
  RETURN NULL;
END $$;

-- An account that acts as another one does so in its own session, and only while that lasts.
CREATE FUNCTION end_proxied_sessions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE sessions SET revoked_at = NEW.revoked_at WHERE proxy_session_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $$;

-- A suspended account is signed out with its sub-accounts and all accounts acting as one of them.
CREATE FUNCTION end_sessions_of_account() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE sessions SET revoked_at = now()
  WHERE revoked_at IS NULL AND (
    account_id = NEW.id OR proxy_id = NEW.id
    OR (NEW.is_root AND account_id IN (SELECT id FROM accounts WHERE parent_id = NEW.id AND NOT is_root)));
  RETURN NULL;
END $$;

-- The key share lock waits for a group that is being added, so one of both transactions sees the other's row.
CREATE FUNCTION fill_group_of_site() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM 1 FROM zones WHERE id = NEW.zone_id FOR KEY SHARE;
  NEW.group_id := first_group(NEW.zone_id);
  RETURN NEW;
END $$;

-- Sites without a group use the first group of their zone. DNS, counts and lists read sites.group_id.
CREATE FUNCTION first_group(zone uuid) RETURNS uuid
    LANGUAGE sql STABLE
    AS $$
  SELECT id FROM groups WHERE zone_id = zone ORDER BY priority, created_at, id LIMIT 1
$$;

-- Combines several changes: each row once, with the values before the first and after the last change.
-- For rows that existed throughout, only the columns that changed.
CREATE FUNCTION fold_changes(versions bigint[]) RETURNS TABLE(entity text, row_key text, parent_id uuid, label text, before jsonb, after jsonb)
    LANGUAGE sql STABLE
    AS $$
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

-- A name is enabled once in the installation: the unique column follows `enabled`.
CREATE FUNCTION follow_enabled() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.enabled_name := CASE WHEN NEW.enabled THEN NEW.name END;
  RETURN NEW;
END $$;

-- Writers of origins have locked their domains, so this reads current rows.
CREATE FUNCTION follow_origins() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE domains d SET search = search_of(d)
    WHERE d.id IN (SELECT domain_id FROM written) AND d.search <> search_of(d);
  RETURN NULL;
END $$;

CREATE FUNCTION follow_search() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.search := search_of(NEW);
  RETURN NEW;
END $$;

-- A removed group has no DNS name.
CREATE FUNCTION forget_group_name() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM dns_targets WHERE label = OLD.dns_label;
  RETURN NULL;
END $$;

-- Documents of a removed zone are removed as well.
CREATE FUNCTION forget_zone_documents() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM outbox WHERE zone_id = OLD.id;
  DELETE FROM edge_documents WHERE zone_id = OLD.id;
  RETURN NULL;
END $$;

CREATE FUNCTION give_up_port() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = OLD.id;
  RETURN NULL;
END $$;

-- A group whose backup group was removed answers itself.
CREATE FUNCTION group_answering(group_id uuid, backup_group_id uuid, forced_at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN forced_at IS NULL THEN group_id ELSE coalesce(backup_group_id, group_id) END
$$;

CREATE FUNCTION iso_time(at timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Serializes decisions on names with the same last two labels. Buckets bound the number of locks of a batch.
CREATE FUNCTION lock_names(names text[]) RETURNS void
    LANGUAGE plpgsql
    AS $_$
BEGIN
  PERFORM pg_advisory_xact_lock(7313, b.bucket) FROM (
    SELECT DISTINCT hashtext(substring(n.name FROM '[^.]+\.[^.]+$')) & 255 AS bucket FROM unnest(names) n (name) ORDER BY 1) b;
END $_$;

CREATE FUNCTION lock_zone_of_group() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM 1 FROM zones WHERE id = NEW.zone_id FOR UPDATE;
  RETURN NEW;
END $$;

-- Without a proof, a claim must not let the new customer enable a name that the former customer still has.
CREATE FUNCTION move_claims() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
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

CREATE FUNCTION name_base(name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE WHEN name LIKE '*.%' THEN substr(name, 3) ELSE name END
$$;

-- The name itself and every name above it.
CREATE FUNCTION names_above(base text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT array_agg(array_to_string(labels[i:], '.')) FROM string_to_array(base, '.') labels, generate_subscripts(labels, 1) i
$$;

-- Names that the site's customer may enable only with a proof, whether or not there is one.
CREATE FUNCTION names_needing_proof(site uuid, names text[]) RETURNS SETOF text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
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

-- Wakes the processes that notify nodes.
CREATE FUNCTION notify_blocks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('blocks', '');
  RETURN NULL;
END $$;

-- Wakes the DNS reconciler when the account changed or a comparison was requested.
CREATE FUNCTION notify_dns() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('dns', '');
  RETURN NULL;
END $$;

-- Invalidates cached accounts in all API processes, so that suspensions and sign-outs apply at once.
CREATE FUNCTION notify_identity() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('identity', OLD.id::text);
  RETURN NULL;
END $$;

-- Wakes the mail sender on commit.
CREATE FUNCTION notify_mail() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('mail', '');
  RETURN NULL;
END $$;

-- Wakes certificate issuance when an order is due.
CREATE FUNCTION notify_orders() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('certificate_orders', '');
  RETURN NULL;
END $$;

-- Wakes the publisher of the zone. PostgreSQL sends equal notifications of a transaction once.
CREATE FUNCTION notify_outbox() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('outbox', NEW.zone_id::text);
  RETURN NULL;
END $$;

-- A role's permissions are cached with its accounts, an API token's with the token.
CREATE FUNCTION notify_role() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('identity', id::text) FROM accounts WHERE role_id = OLD.id;
  RETURN NULL;
END $$;

-- Wakes steering once per transaction.
CREATE FUNCTION notify_steering() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('steering', '');
  RETURN NULL;
END $$;

-- Uses a separate lock (core/locks.ts).
CREATE FUNCTION number_site_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

-- Relays fetch nothing on their own: prefetches of edge nodes fill them.
CREATE FUNCTION open_job_receipts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NEW.kind LIKE 'purge%' OR NEW.kind = 'preheat' THEN
    INSERT INTO job_receipts (job_id, node_id)
      SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
      WHERE s.id = NEW.site_id AND n.joined_at IS NOT NULL AND (NEW.kind <> 'preheat' OR n.kind = 'edge');
    PERFORM pg_notify('jobs', '');
  END IF;
  RETURN NULL;
END $$;

-- The site's version made by this transaction. Null if the site is being removed.
CREATE FUNCTION open_site_version(site uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  current_tx bigint := pg_current_xact_id()::text::bigint;
  found bigint;
  call jsonb := nullif(current_setting('edgeloom.call', true), '')::jsonb;
  -- A rollback stores its reason and target version here.
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

CREATE FUNCTION plan_moved_sites() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO dns_plans (client_id)
    SELECT DISTINCT n.client_id FROM new_rows n JOIN old_rows o USING (id)
    WHERE (n.cname_label, group_answering(n.group_id, n.backup_group_id, n.forced_at))
        IS DISTINCT FROM (o.cname_label, group_answering(o.group_id, o.backup_group_id, o.forced_at))
      AND EXISTS (SELECT 1 FROM cnames c WHERE c.client_id = n.client_id);
  IF FOUND THEN PERFORM pg_notify('dns', ''); END IF;
  RETURN NULL;
END $$;

-- Plans DNS names again when their inputs change, and wakes the reconciler. Operators without a suffix have no names.
CREATE FUNCTION plan_names() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO dns_plans (client_id)
    SELECT DISTINCT r.client_id FROM changed_rows r
    WHERE TG_TABLE_NAME = 'cnames' AND EXISTS (SELECT 1 FROM clients c WHERE c.id = r.client_id)
      OR EXISTS (SELECT 1 FROM cnames c WHERE c.client_id = r.client_id);
  IF FOUND THEN PERFORM pg_notify('dns', ''); END IF;
  RETURN NULL;
END $$;

-- Publishes ACME challenges to nodes, and removes them together with their order.
CREATE FUNCTION publish_acme_challenge() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  challenge acme_challenges := coalesce(NEW, OLD);
BEGIN
  IF challenge.type = 'http-01' THEN
    INSERT INTO outbox (zone_id, key) VALUES (challenge.zone_id, 'acme/' || challenge.token);
  END IF;
  RETURN NULL;
END $$;

-- A disabled name has a document in each zone where another customer's wildcard covers it (load.ts).
CREATE FUNCTION publish_covered_names() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT r.zone_id, 'host/' || c.name FROM changed_rows r JOIN name_claims c ON c.parent = r.parent
      WHERE r.name LIKE '*.%' AND c.name NOT LIKE '*.%' AND NOT c.enabled AND c.holder_id <> r.holder_id
    UNION
    SELECT w.zone_id, 'host/' || r.name FROM changed_rows r JOIN name_claims w ON w.name = '*.' || r.parent
      WHERE r.name NOT LIKE '*.%' AND w.enabled AND w.holder_id <> r.holder_id;
  RETURN NULL;
END $$;

-- A forward has a document only while its site is in service. A change publishes the forwards in the same transaction.
CREATE FUNCTION publish_ports_of_site() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT NEW.zone_id, 'port/' || id FROM port_rules WHERE site_id = NEW.id AND enabled;
  RETURN NULL;
END $$;

-- A locked or expired account takes its sites out of service, and returning brings them back.
-- This happens in the transaction itself, since the caller may not see the sites.
CREATE FUNCTION publish_sites_of_account() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  WITH served AS (
    SELECT id, zone_id FROM sites
    WHERE CASE WHEN NEW.kind = 'user' THEN owner_id = NEW.id ELSE client_id = NEW.client_id END
  )
  INSERT INTO outbox (zone_id, key)
    SELECT zone_id, 'site/' || id FROM served
    UNION ALL
    SELECT s.zone_id, 'port/' || r.id FROM port_rules r JOIN served s ON s.id = r.site_id WHERE r.enabled;
  RETURN NULL;
END $$;

-- Purged URLs are fetched again: those of the purge regardless of their query, or all of the site. Nodes purge first.
CREATE FUNCTION purge_preheats() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE preheat_copies c SET state = 'waiting', fault = NULL, tries = 0, due_at = now()
    FROM preheat_caches p WHERE p.site_id = NEW.site_id AND c.preheat_id = p.id
      AND (NEW.kind <> 'purgeURLs' OR split_part(p.url, '?', 1) IN (SELECT split_part(u, '?', 1) FROM unnest(NEW.urls) u));
  RETURN NULL;
END $$;

-- Tables

CREATE TABLE domains (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    name text NOT NULL,
    enabled boolean NOT NULL,
    enabled_name text,
    tags text[] DEFAULT ARRAY[]::text[],
    cname_status text DEFAULT 'pendingCheck'::text NOT NULL,
    cert_status text DEFAULT 'none'::text NOT NULL,
    force_ssl boolean DEFAULT false NOT NULL,
    scheme text DEFAULT 'http'::text NOT NULL,
    port_map jsonb DEFAULT '[]'::jsonb NOT NULL,
    hash_type text DEFAULT 'roundRobin'::text NOT NULL,
    host_replace text,
    sni text,
    max_fails integer DEFAULT 3 NOT NULL,
    fail_timeout_seconds integer DEFAULT 10 NOT NULL,
    connect_timeout_seconds integer DEFAULT 5 NOT NULL,
    read_timeout_seconds integer DEFAULT 60 NOT NULL,
    cache_version integer DEFAULT 0 NOT NULL,
    certificate_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    cname_due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    hsts_include_subdomains boolean DEFAULT false NOT NULL,
    hsts_max_age_seconds integer,
    hsts_preload boolean DEFAULT false NOT NULL,
    min_tls text DEFAULT 'TLSv1.2'::text NOT NULL,
    origin_verify boolean DEFAULT false NOT NULL,
    health_check jsonb,
    slow_start_seconds integer DEFAULT 0 NOT NULL,
    origin_certificate_id uuid,
    search text DEFAULT ''::text NOT NULL,
    websocket_timeout_seconds integer DEFAULT 3600 NOT NULL
);

-- Functions

CREATE FUNCTION search_of(d domains) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT lower(concat_ws(E'\n', d.name, nullif(array_to_string(d.tags, E'\n'), ''),
    (SELECT string_agg(DISTINCT u.address, E'\n') FROM upstreams u WHERE u.domain_id = d.id)))
$$;

CREATE FUNCTION site_row_key(content jsonb, keys text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN cardinality(keys) = 1 THEN content->>keys[1]
    ELSE (SELECT string_agg(content->>k, ' ' ORDER BY n) FROM unnest(keys) WITH ORDINALITY t (k, n)) END
$$;

-- `updated_at` is an object's ETag. It grows with each change, and a conditional change of a newer row fails.
-- Argument: the primary key.
CREATE FUNCTION stamp_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  wish text := current_setting('edgeloom.match', true);
BEGIN
  IF wish <> '' AND wish::jsonb->'ids' ? (to_jsonb(OLD)->>TG_ARGV[0]) THEN
    IF NOT wish::jsonb->'tags' ? to_char(OLD.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') THEN
      RAISE EXCEPTION '% % was changed meanwhile', TG_TABLE_NAME, to_jsonb(OLD)->>TG_ARGV[0] USING ERRCODE = 'EL412';
    END IF;
    -- The first change of a call must not join another call's version.
    PERFORM set_config('edgeloom.match', '', true);
  END IF;
  IF NEW.updated_at <= OLD.updated_at THEN
    NEW.updated_at := OLD.updated_at + interval '1 millisecond';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION take_site() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_TABLE_NAME = 'domain_modules' THEN
    NEW.site_id := (SELECT d.site_id FROM domains d WHERE d.id = NEW.domain_id);
  ELSE
    NEW.site_id := (SELECT r.site_id FROM port_rules r WHERE r.id = NEW.port_rule_id);
  END IF;
  RETURN NEW;
END $$;

-- The first group of a zone takes the sites that were added before it.
CREATE FUNCTION take_waiting_sites() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE sites SET group_id = first_group(zone_id) WHERE group_id IS NULL AND zone_id IN (SELECT zone_id FROM new_rows);
  RETURN NULL;
END $$;

-- Wakes the workers on new and retried jobs.
CREATE FUNCTION tell_node_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('node_jobs', '');
  RETURN NULL;
END $$;

-- Wakes the workers on new rollouts, actions and node reports.
CREATE FUNCTION tell_rollouts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('rollouts', '');
  RETURN NULL;
END $$;

-- Every table of a site's configuration is tracked: its migration calls SELECT track('table'), optionally with the column of
-- the parent and columns that are not configuration. The table has a site_id.
CREATE FUNCTION track(target regclass, parent text DEFAULT ''::text, quiet text DEFAULT ''::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

-- Records changes of a site's configuration, including cascades. Arguments: primary key, parent column, columns that are not
-- configuration. The plan for one row is reused for 10,000 rows, where a nested loop would be quadratic.
CREATE FUNCTION track_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_nestloop TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
  keys text[] := string_to_array(TG_ARGV[0], ',');
  parent text := TG_ARGV[1];
  quiet text[] := string_to_array(TG_ARGV[2], ',');
  -- Raised by purges. Restored with a row, but never the only change of a version.
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
    -- OFFSET and MATERIALIZED make PostgreSQL convert each row to JSON only once.
    PERFORM track_pairs(TG_TABLE_NAME, keys, parent, (
      WITH o AS MATERIALIZED (SELECT whole - still AS j, site_row_key(whole, keys) AS k FROM (SELECT to_jsonb(r) AS whole FROM old_rows r OFFSET 0) t),
        n AS MATERIALIZED (SELECT whole - still AS j, site_row_key(whole, keys) AS k FROM (SELECT to_jsonb(r) AS whole FROM new_rows r OFFSET 0) t)
      SELECT array_agg(jsonb_build_object('row', n.j,
        'before', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(o.j) WHERE n.j->key IS DISTINCT FROM value),
        'after', (SELECT jsonb_object_agg(key, value) FROM jsonb_each(n.j) WHERE o.j->key IS DISTINCT FROM value)))
      FROM o JOIN n USING (k) WHERE o.j <> n.j));
  END IF;
  RETURN NULL;
END $$;

-- The label of an error page is its status code, since its value is a whole HTML page.
CREATE FUNCTION track_pairs(entity_of text, keys text[], parent text, pairs jsonb[]) RETURNS void
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
        (SELECT m.name FROM modules m WHERE m.id = (c.j->>'module_id')::uuid), c.j->>'code', c.j->'value'->>0, CASE WHEN c.j->>'type' = 'all' THEN '*' END,
        -- For a port that the zone removed: its name when the site opened it.
        CASE WHEN entity_of = 'site_ports' THEN (SELECT x.label FROM site_versions v JOIN site_changes x ON x.version_id = v.id
          WHERE v.site_id = (c.j->>'site_id')::uuid AND x.entity = 'site_ports' AND x.row_key = site_row_key(c.j, keys) LIMIT 1) END, ''), 300),
      c.before, c.after
    FROM changed c JOIN opened o ON o.site = c.j->>'site_id' WHERE o.id IS NOT NULL
$$;

-- Names that need a proof and have none from the last 7 days. The result does not reveal whose name overlaps.
CREATE FUNCTION unproven_names(site uuid, names text[]) RETURNS SETOF text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
BEGIN
  RETURN QUERY
    SELECT n.name FROM names_needing_proof(site, names) n (name), sites s
    WHERE s.id = site AND NOT EXISTS (SELECT FROM name_proofs p
      WHERE p.holder_id = coalesce(s.owner_id, s.client_id) AND p.name = name_base(n.name)
        AND p.proven_at > now() - interval '7 days');
END $$;

-- Every table that a call may write is watched: its migration calls SELECT watch('table'). Cascades of a removal are part of
-- it and not recorded per row.
CREATE FUNCTION watch(target regclass) RETURNS void
    LANGUAGE plpgsql
    AS $_$
DECLARE
  key text;
  quiet text := $w$WHEN (pg_trigger_depth() = 0 AND current_setting('edgeloom.call', true) <> '')$w$;
BEGIN
  SELECT string_agg(quote_literal(a.attname), ', ' ORDER BY array_position(i.indkey::int[], a.attnum::int)) INTO key
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = target AND i.indisprimary;
  EXECUTE format('CREATE TRIGGER audit_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT %s EXECUTE FUNCTION audit_capture(%s)', target, quiet, key);
  EXECUTE format('CREATE TRIGGER audit_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT %s EXECUTE FUNCTION audit_capture(%s)', target, quiet, key);
  EXECUTE format('CREATE TRIGGER audit_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT %s EXECUTE FUNCTION audit_capture(%s)', target, quiet, key);
  IF EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = target AND attname = 'updated_at') THEN
    EXECUTE format('CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON %s FOR EACH ROW EXECUTE FUNCTION stamp_update(%s)', target, key);
  END IF;
END $_$;

CREATE AGGREGATE jsonb_merge(jsonb) (
    SFUNC = jsonb_concat,
    STYPE = jsonb,
    INITCOND = '{}'
);

-- Tables

CREATE TABLE accounts (
    id uuid NOT NULL,
    kind account_kind NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text,
    status account_status DEFAULT 'normal'::account_status NOT NULL,
    is_root boolean DEFAULT false NOT NULL,
    client_id uuid,
    parent_id uuid,
    login2fa_type smallint DEFAULT 0 NOT NULL,
    language text DEFAULT 'zh-TW'::text NOT NULL,
    expires_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    login_notify boolean DEFAULT true NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    company_name text DEFAULT ''::text NOT NULL,
    company_phone text DEFAULT ''::text NOT NULL,
    company_tax_id text DEFAULT ''::text NOT NULL,
    phone text DEFAULT ''::text NOT NULL,
    role_id uuid,
    created_by_id uuid,
    CONSTRAINT sub_accounts_have_a_parent CHECK ((is_root OR (parent_id IS NOT NULL)))
);

-- Views

-- Account states. Root accounts decide for sub-accounts, and operators for customers, except for pauses.
CREATE VIEW account_standings AS
 SELECT a.id,
    root.id AS root_id,
    operator.id AS operator_id,
    ((a.status = 'normal'::account_status) AND (root.status = 'normal'::account_status) AND COALESCE((operator.status <> ALL (ARRAY['lock'::account_status, 'expired'::account_status])), true)) AS enabled,
    LEAST(a.expires_at, root.expires_at, operator.expires_at) AS ends_at
   FROM ((accounts a
     JOIN accounts root ON ((root.id =
        CASE
            WHEN a.is_root THEN a.id
            ELSE a.parent_id
        END)))
     LEFT JOIN accounts operator ON (((operator.id = root.parent_id) AND (root.kind = 'user'::account_kind))));

-- Tables

CREATE TABLE acme_accounts (
    id text NOT NULL,
    key_sealed text NOT NULL,
    url text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE acme_challenges (
    token text NOT NULL,
    order_id uuid NOT NULL,
    type text NOT NULL,
    site_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    name text NOT NULL,
    key_authorization text NOT NULL,
    dns_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE acme_placements (
    id uuid NOT NULL,
    ca text NOT NULL,
    site_id uuid NOT NULL,
    client_id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL
);

CREATE TABLE announcements (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    starts_at timestamp(3) with time zone NOT NULL,
    ends_at timestamp(3) with time zone,
    "position" integer NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE anti_headers (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    domain_id uuid,
    name text NOT NULL,
    operator text NOT NULL,
    value text NOT NULL,
    action text NOT NULL,
    priority integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE anti_referers (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    is_black boolean NOT NULL,
    referers text[],
    allow_empty boolean NOT NULL,
    type text NOT NULL,
    value text[],
    action text NOT NULL,
    target text,
    priority integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE api_tokens (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    token_hash text NOT NULL,
    permissions text[],
    cidrs text[],
    expires_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE audit_changes (
    id bigint NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    req_id uuid NOT NULL,
    call jsonb NOT NULL,
    entity text NOT NULL,
    action text NOT NULL,
    count integer NOT NULL,
    rows jsonb NOT NULL
);

CREATE SEQUENCE audit_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE audit_changes_id_seq OWNED BY audit_changes.id;

CREATE TABLE audit_heads (
    chain uuid NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE authenticator_setups (
    id text NOT NULL,
    account_id uuid NOT NULL,
    secret_sealed text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE authenticators (
    account_id uuid NOT NULL,
    secret_sealed text NOT NULL,
    last_step integer NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE block_holders (
    node_id uuid NOT NULL,
    revision bigint NOT NULL,
    size integer NOT NULL,
    fault text DEFAULT ''::text NOT NULL,
    seen_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE block_sets (
    zone_id uuid NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    flushed bigint DEFAULT 0 NOT NULL,
    pushed bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL
);

CREATE TABLE blocks (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    network text NOT NULL,
    cause text NOT NULL,
    site_id uuid,
    node_id uuid,
    author text DEFAULT ''::text NOT NULL,
    since timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    until timestamp(3) with time zone NOT NULL,
    removed boolean DEFAULT false NOT NULL,
    revision bigint NOT NULL
);

CREATE TABLE brand_images (
    id uuid NOT NULL,
    branding_id uuid NOT NULL,
    slot text NOT NULL,
    hash text NOT NULL,
    format text NOT NULL,
    bytes bytea NOT NULL
);

CREATE TABLE brandings (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    host text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    copyright text DEFAULT ''::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE cache_rules (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    type text NOT NULL,
    value text[],
    cache_time integer NOT NULL,
    honour_origin boolean DEFAULT false NOT NULL,
    query text DEFAULT 'all'::text NOT NULL,
    query_names text[] DEFAULT ARRAY[]::text[],
    priority integer DEFAULT 100 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    browser_time integer,
    cookie_names text[] DEFAULT ARRAY[]::text[],
    cookies text DEFAULT 'none'::text NOT NULL,
    max_time integer,
    min_time integer,
    pass_cookies text[] DEFAULT ARRAY[]::text[],
    slices boolean DEFAULT false NOT NULL,
    stale_if_error integer,
    stale_while_revalidate integer,
    strip_cookies boolean DEFAULT false NOT NULL,
    override_origin boolean DEFAULT false NOT NULL
);

CREATE TABLE cache_settings (
    site_id uuid NOT NULL,
    heuristics boolean DEFAULT false NOT NULL,
    stale_if_error integer DEFAULT 3600 NOT NULL,
    shield boolean DEFAULT false NOT NULL,
    check_content_type boolean DEFAULT true NOT NULL,
    honour_visitors boolean DEFAULT false NOT NULL,
    pass_headers text[] DEFAULT ARRAY[]::text[],
    set_cookie text DEFAULT 'refuse'::text NOT NULL,
    store_post boolean DEFAULT false NOT NULL
);

CREATE TABLE cached_now (
    node_id uuid NOT NULL,
    site_id uuid NOT NULL,
    objects integer NOT NULL,
    bytes bigint NOT NULL,
    measured_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE certificate_events (
    id uuid NOT NULL,
    certificate_id uuid NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    step text NOT NULL,
    key_type text,
    ca text,
    detail text
);

CREATE TABLE certificate_orders (
    id uuid NOT NULL,
    certificate_id uuid NOT NULL,
    job_id uuid,
    key_type text NOT NULL,
    open_for text,
    state text DEFAULT 'open'::text NOT NULL,
    ca text,
    order_url text,
    key_sealed text,
    csr_pem text,
    passed text[] DEFAULT ARRAY[]::text[],
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone NOT NULL,
    claimed_until timestamp(3) with time zone,
    claimed_by uuid,
    placed_at timestamp(3) with time zone,
    error text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone
);

CREATE TABLE certificate_pairs (
    certificate_id uuid NOT NULL,
    key_type text NOT NULL,
    chain_pem text NOT NULL,
    key_sealed text NOT NULL,
    fingerprint text NOT NULL,
    issuer text NOT NULL,
    not_before timestamp(3) with time zone NOT NULL,
    not_after timestamp(3) with time zone NOT NULL,
    ca text
);

CREATE TABLE certificates (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    name text NOT NULL,
    names text[],
    not_after timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    ask_at timestamp(3) with time zone,
    csr_key_sealed text,
    csr_pem text,
    failures integer DEFAULT 0 NOT NULL,
    key_types text[] DEFAULT ARRAY[]::text[],
    next_at timestamp(3) with time zone,
    noticed_days integer,
    noticed_end timestamp(3) with time zone,
    status text DEFAULT 'none'::text NOT NULL,
    type text DEFAULT 'manual'::text NOT NULL
);

CREATE TABLE clients (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE cnames (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    setting_id uuid NOT NULL,
    name text NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE compressions (
    site_id uuid NOT NULL,
    gzip boolean NOT NULL,
    brotli boolean NOT NULL,
    types text[],
    min_bytes integer NOT NULL,
    webp boolean DEFAULT false NOT NULL,
    webp_max_bytes integer DEFAULT 10485760 NOT NULL,
    webp_min_bytes integer DEFAULT 1024 NOT NULL,
    webp_quality integer DEFAULT 80 NOT NULL,
    webp_types text[] DEFAULT ARRAY['image/jpeg'::text, 'image/png'::text]
);

CREATE TABLE dns_names (
    setting_id uuid NOT NULL,
    name text NOT NULL,
    wanted jsonb NOT NULL,
    ours jsonb DEFAULT '[]'::jsonb NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    wanted_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP,
    tries integer DEFAULT 0 NOT NULL,
    fault text,
    id uuid DEFAULT gen_random_uuid() NOT NULL
);

CREATE TABLE dns_plans (
    id bigint NOT NULL,
    client_id uuid NOT NULL
);

CREATE SEQUENCE dns_plans_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE dns_plans_id_seq OWNED BY dns_plans.id;

CREATE TABLE dns_setting_states (
    setting_id uuid NOT NULL,
    held_until timestamp(3) with time zone,
    tries integer DEFAULT 0 NOT NULL,
    fault text,
    fault_at timestamp(3) with time zone,
    list_due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    listed_at timestamp(3) with time zone,
    drifted integer DEFAULT 0 NOT NULL,
    drifted_names text[] DEFAULT ARRAY[]::text[],
    offered_lines jsonb,
    weighting text
);

CREATE TABLE dns_settings (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    dns_type text NOT NULL,
    credentials_sealed text NOT NULL,
    root_domain text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE dns_targets (
    client_id uuid NOT NULL,
    label text NOT NULL,
    sets jsonb NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE groups (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 1 NOT NULL,
    backup_group_id uuid,
    forced_at timestamp(3) with time zone,
    lines text[] DEFAULT ARRAY[]::text[],
    dns_label text DEFAULT ('g-'::text || substr(md5((gen_random_uuid())::text), 1, 10)) NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE sites (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    product_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    owner_id uuid,
    name text NOT NULL,
    status site_status DEFAULT 'normal'::site_status NOT NULL,
    tags text[] DEFAULT ARRAY[]::text[],
    cache_version integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    cname_label text DEFAULT substr(md5((gen_random_uuid())::text), 1, 12) NOT NULL,
    backup_group_id uuid,
    group_id uuid,
    forced_at timestamp(3) with time zone
);

-- Views

-- A site's name points to its group's name, so that a change of nodes affects few record sets.
CREATE VIEW dns_wanted AS
 SELECT c.client_id,
    c.setting_id,
    ((t.label || '.'::text) || c.name) AS name,
    t.sets AS wanted
   FROM (cnames c
     JOIN dns_targets t ON ((t.client_id = c.client_id)))
UNION ALL
 SELECT c.client_id,
    c.setting_id,
    ((s.cname_label || '.'::text) || c.name) AS name,
    jsonb_build_array(jsonb_build_object('line', 'default', 'type', 'CNAME', 'ttlSeconds', 300, 'values', jsonb_build_array(jsonb_build_object('value', ((g.dns_label || '.'::text) || c.name), 'weight', 1)))) AS wanted
   FROM ((cnames c
     JOIN sites s ON ((s.client_id = c.client_id)))
     JOIN groups g ON ((g.id = group_answering(s.group_id, s.backup_group_id, s.forced_at))));

-- Tables

CREATE TABLE domain_modules (
    domain_id uuid NOT NULL,
    kind text NOT NULL,
    module_id uuid NOT NULL,
    site_id uuid
);

CREATE TABLE edge_documents (
    zone_id uuid NOT NULL,
    key text NOT NULL,
    revision integer NOT NULL,
    sha256 text NOT NULL,
    body text,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE email_settings (
    client_id uuid NOT NULL,
    enabled boolean NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    security text NOT NULL,
    username text NOT NULL,
    password_sealed text,
    from_name text NOT NULL,
    from_address text NOT NULL,
    last_error text,
    failed_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE error_pages (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    code integer NOT NULL,
    type text NOT NULL,
    value text NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE group_members (
    id uuid NOT NULL,
    group_id uuid NOT NULL,
    line text NOT NULL,
    node_id uuid,
    virtual_node_id uuid,
    weight integer DEFAULT 50 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT group_members_one CHECK (((num_nonnulls(node_id, virtual_node_id) = 1) AND ((weight >= 0) AND (weight <= 100))))
);

CREATE TABLE group_states (
    group_id uuid NOT NULL,
    state text NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    answered jsonb NOT NULL
);

CREATE TABLE idempotent_calls (
    account_id uuid NOT NULL,
    key_hash text NOT NULL,
    request_hash text NOT NULL,
    req_id uuid NOT NULL,
    claimed_until timestamp(3) with time zone NOT NULL,
    status smallint,
    answer text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE job_receipts (
    job_id uuid NOT NULL,
    node_id uuid NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    took_ms double precision,
    objects integer,
    error text,
    answered_at timestamp(3) with time zone,
    claimed_until timestamp(3) with time zone,
    progress integer DEFAULT 0 NOT NULL
);

CREATE TABLE jobs (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'processing'::text NOT NULL,
    title text NOT NULL,
    urls text[] DEFAULT ARRAY[]::text[],
    doc_keys text[] DEFAULT ARRAY[]::text[],
    revision integer,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone,
    soft boolean DEFAULT false NOT NULL
);

CREATE TABLE licenses (
    client_id uuid NOT NULL,
    site_limit integer DEFAULT 0 NOT NULL,
    node_limit integer DEFAULT 0 NOT NULL,
    zone_limit integer DEFAULT 0 NOT NULL,
    domain_limit integer DEFAULT 0 NOT NULL,
    auto_certificate_limit integer DEFAULT 0 NOT NULL,
    layer4 boolean DEFAULT false NOT NULL,
    ends_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE login_challenges (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    key_hash text NOT NULL,
    code_hash text,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE login_failures (
    id text NOT NULL,
    count integer DEFAULT 1 NOT NULL,
    first_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    locked_until timestamp(3) with time zone
);

CREATE TABLE mailed_tokens (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    purpose text NOT NULL,
    token_hash text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE modules (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE name_claims (
    domain_id uuid NOT NULL,
    name text NOT NULL,
    base text NOT NULL,
    reversed text NOT NULL COLLATE pg_catalog."C",
    parent text NOT NULL,
    holder_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    enabled boolean NOT NULL
);

CREATE TABLE name_proof_settings (
    client_id uuid NOT NULL,
    every_name boolean NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE name_proofs (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    holder_id uuid NOT NULL,
    name text NOT NULL,
    asked_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP,
    tries integer DEFAULT 0 NOT NULL,
    looked_at timestamp(3) with time zone,
    outcome text,
    seen text[] DEFAULT ARRAY[]::text[],
    proven_at timestamp(3) with time zone
);

CREATE TABLE nginx_defaults (
    client_id uuid NOT NULL,
    part text NOT NULL,
    content text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE node_job_steps (
    job_id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    fault text,
    message text,
    output text DEFAULT ''::text NOT NULL,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone
);

CREATE TABLE node_jobs (
    id uuid NOT NULL,
    node_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    system jsonb,
    fingerprint text,
    keep_ssh boolean DEFAULT false NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    claimed_by uuid,
    claimed_until timestamp(3) with time zone,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone
);

CREATE TABLE node_standings (
    node_id uuid NOT NULL,
    is_in boolean NOT NULL,
    reason text,
    since timestamp(3) with time zone NOT NULL,
    well_since timestamp(3) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    is_busy boolean DEFAULT false NOT NULL
);

CREATE TABLE node_states (
    node_id uuid NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    digest text,
    digest_agrees boolean,
    synced_at timestamp(3) with time zone,
    last_seen_at timestamp(3) with time zone,
    connected_at timestamp(3) with time zone,
    disconnected_at timestamp(3) with time zone,
    version text DEFAULT ''::text NOT NULL,
    nginx text,
    error text,
    rejected jsonb DEFAULT '[]'::jsonb NOT NULL,
    capabilities text[] DEFAULT ARRAY[]::text[],
    clock_offset_ms integer,
    load jsonb,
    packs jsonb DEFAULT '{}'::jsonb NOT NULL,
    release text,
    upgrade text DEFAULT 'notUpdated'::text NOT NULL,
    key_ids jsonb,
    ended_began_at timestamp(3) with time zone,
    failing_patterns jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE nodes (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    name text NOT NULL,
    ip text NOT NULL,
    role text DEFAULT 'main'::text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    cache_max_bytes bigint DEFAULT 0 NOT NULL,
    join_hash text,
    join_ends_at timestamp(3) with time zone,
    public_key text,
    joined_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    bandwidth_mbps integer DEFAULT 0 NOT NULL,
    drain_ends_at timestamp(3) with time zone,
    geneva_packet_size integer,
    geneva_window_size integer,
    log_rotate_seconds integer DEFAULT 0 NOT NULL,
    monitor jsonb,
    move_to_zone_id uuid,
    parent_id uuid,
    port_type text DEFAULT 'both'::text NOT NULL,
    ssh_fingerprint text,
    ssh_password_sealed text,
    ssh_port integer,
    ssh_private_key_sealed text,
    ssh_user text,
    kind text DEFAULT 'edge'::text NOT NULL,
    relay_port integer DEFAULT 8443 NOT NULL,
    cache_dir text DEFAULT ''::text NOT NULL,
    CONSTRAINT nodes_kind CHECK ((kind = ANY (ARRAY['edge'::text, 'relay'::text]))),
    CONSTRAINT nodes_relay_port CHECK (((relay_port >= 1) AND (relay_port <= 65535)))
);

CREATE TABLE oidc_providers (
    client_id uuid NOT NULL,
    enabled boolean NOT NULL,
    issuer text NOT NULL,
    oidc_client_id text NOT NULL,
    secret_sealed text NOT NULL,
    button_text text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE oidc_sign_ins (
    id text NOT NULL,
    kind account_kind NOT NULL,
    client_id uuid NOT NULL,
    key_hash text NOT NULL,
    redirect_uri text NOT NULL,
    proof_sealed text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE origin_states (
    node_id uuid NOT NULL,
    upstream_id uuid NOT NULL,
    is_up boolean NOT NULL,
    reason text,
    took_ms integer NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE outbox (
    id bigint NOT NULL,
    zone_id uuid NOT NULL,
    key text NOT NULL,
    error text,
    failed_at timestamp(3) with time zone
);

CREATE SEQUENCE outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE outbox_id_seq OWNED BY outbox.id;

CREATE TABLE outgoing_mails (
    id uuid NOT NULL,
    sealed text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_error text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE passkey_challenges (
    id uuid NOT NULL,
    kind account_kind NOT NULL,
    account_id uuid,
    purpose text NOT NULL,
    challenge text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE passkeys (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    credential_id text NOT NULL,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text[] DEFAULT ARRAY[]::text[],
    backed_up boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_used_at timestamp(3) with time zone
);

CREATE TABLE port_claims (
    zone_id uuid NOT NULL,
    protocol text NOT NULL,
    port integer NOT NULL,
    holder uuid NOT NULL
);

CREATE TABLE port_rules (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    port integer NOT NULL,
    protocol text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    accept_proxy boolean DEFAULT false NOT NULL,
    send_proxy boolean DEFAULT false NOT NULL,
    method text DEFAULT 'roundRobin'::text NOT NULL,
    max_fails integer DEFAULT 3 NOT NULL,
    fail_timeout_seconds integer DEFAULT 10 NOT NULL,
    connect_timeout_seconds integer DEFAULT 5 NOT NULL,
    idle_timeout_seconds integer DEFAULT 600 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE port_upstreams (
    id uuid NOT NULL,
    port_rule_id uuid NOT NULL,
    address text NOT NULL,
    port integer NOT NULL,
    weight integer DEFAULT 10 NOT NULL,
    backup boolean DEFAULT false NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    site_id uuid
);

CREATE TABLE preheat_caches (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    site_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    url text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE preheat_copies (
    preheat_id uuid NOT NULL,
    node_id uuid NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    fault text,
    warmed_at timestamp(3) with time zone,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    tries integer DEFAULT 0 NOT NULL
);

CREATE TABLE products (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    name text NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    site_limit integer DEFAULT 0 NOT NULL,
    domain_limit integer DEFAULT 0 NOT NULL,
    traffic_price_cents integer DEFAULT 0 NOT NULL,
    over_limit_action text DEFAULT 'none'::text NOT NULL,
    sell_type text DEFAULT 'business'::text NOT NULL,
    use text DEFAULT 'commercial'::text NOT NULL,
    cname_mode text DEFAULT 'random'::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    auto_certificate_limit integer DEFAULT 0 NOT NULL,
    port_limit integer DEFAULT 0 NOT NULL,
    backup_group_id uuid,
    group_id uuid
);

CREATE TABLE proof_tokens (
    holder_id uuid NOT NULL,
    token text NOT NULL
);

CREATE TABLE purges (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    type smallint NOT NULL,
    urls text[],
    job_id uuid,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    soft boolean DEFAULT false NOT NULL
);

CREATE UNLOGGED TABLE rate_counts (
    key character varying(255) NOT NULL,
    points integer DEFAULT 0 NOT NULL,
    expire bigint
);

CREATE TABLE rates (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    type text NOT NULL,
    value text[],
    rate integer NOT NULL,
    after integer NOT NULL,
    priority integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE recovery_codes (
    id text NOT NULL,
    account_id uuid NOT NULL
);

CREATE TABLE redirects (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    module_id uuid NOT NULL,
    type text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    code integer DEFAULT 301 NOT NULL,
    keep_query boolean DEFAULT true NOT NULL,
    keep_rest boolean DEFAULT true NOT NULL,
    priority integer DEFAULT 100 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE revoked_keys (
    public_key text NOT NULL,
    revoked_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE roles (
    id uuid NOT NULL,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    permissions text[],
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE rollout_lines (
    id bigint NOT NULL,
    rollout_id uuid NOT NULL,
    node_id uuid,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    event text NOT NULL,
    wave integer,
    detail text,
    message text,
    by text,
    message_code jsonb
);

CREATE SEQUENCE rollout_lines_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE rollout_lines_id_seq OWNED BY rollout_lines.id;

CREATE TABLE rollout_nodes (
    rollout_id uuid NOT NULL,
    node_id uuid NOT NULL,
    wave integer NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    before jsonb,
    order_key uuid,
    message text,
    baseline jsonb,
    metrics jsonb,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    active boolean DEFAULT false NOT NULL,
    phase text,
    message_code jsonb
);

CREATE TABLE rollout_waves (
    rollout_id uuid NOT NULL,
    "position" integer NOT NULL,
    percent integer,
    state text DEFAULT 'waiting'::text NOT NULL,
    started_at timestamp(3) with time zone,
    soak_ends_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    gates jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE rollout_zones (
    rollout_id uuid NOT NULL,
    zone_id uuid NOT NULL
);

CREATE TABLE rollouts (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    kind text NOT NULL,
    target jsonb NOT NULL,
    title text NOT NULL,
    strategy jsonb NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    fast boolean DEFAULT false NOT NULL,
    reason text NOT NULL,
    wave integer DEFAULT 0 NOT NULL,
    fault text,
    message text,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone,
    claimed_by uuid,
    claimed_until timestamp(3) with time zone,
    message_code jsonb
);

CREATE TABLE sessions (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    token_hash text NOT NULL,
    previous_hash text,
    successor text,
    rotated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    address text NOT NULL,
    device text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_used_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ends_at timestamp(3) with time zone NOT NULL,
    revoked_at timestamp(3) with time zone,
    api_token_id uuid,
    proxy_id uuid,
    proxy_session_id uuid
);

CREATE TABLE site_assignments (
    site_id uuid NOT NULL,
    account_id uuid NOT NULL
);

CREATE TABLE site_changes (
    id bigint NOT NULL,
    version_id bigint NOT NULL,
    entity text NOT NULL,
    row_key text NOT NULL,
    parent_id uuid,
    label text NOT NULL,
    before jsonb,
    after jsonb
);

CREATE SEQUENCE site_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE site_changes_id_seq OWNED BY site_changes.id;

CREATE TABLE site_dns (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    provider text NOT NULL,
    credentials_sealed text NOT NULL,
    domains text[],
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE site_ports (
    site_id uuid NOT NULL,
    zone_port_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE site_versions (
    id bigint NOT NULL,
    site_id uuid NOT NULL,
    version integer,
    tx bigint,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    req_id uuid,
    account_name text DEFAULT ''::text NOT NULL,
    proxy_name text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    restores integer,
    summary jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE SEQUENCE site_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE site_versions_id_seq OWNED BY site_versions.id;

CREATE TABLE token_keys (
    id uuid NOT NULL,
    site_id uuid NOT NULL,
    key_sealed text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE upstreams (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    site_id uuid NOT NULL,
    address text NOT NULL,
    port integer NOT NULL,
    weight integer DEFAULT 10 NOT NULL,
    backup boolean DEFAULT false NOT NULL,
    enabled boolean DEFAULT true NOT NULL
);

CREATE TABLE virtual_nodes (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    name text NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    switching_interval integer DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE virtual_records (
    id uuid NOT NULL,
    virtual_node_id uuid NOT NULL,
    cname text,
    ip text,
    node_id uuid,
    disabled boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT virtual_records_one CHECK ((num_nonnulls(cname, ip, node_id) = 1))
);

CREATE TABLE zone_assignments (
    zone_id uuid NOT NULL,
    account_id uuid NOT NULL
);

CREATE TABLE zone_key_changes (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    cause text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    author text DEFAULT ''::text NOT NULL,
    other_key text,
    other_key_sealed text,
    documents integer DEFAULT 0 NOT NULL,
    queued integer DEFAULT 0 NOT NULL,
    cursor text DEFAULT ''::text NOT NULL,
    last_outbox bigint DEFAULT 0 NOT NULL,
    sealed_revision integer,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    since timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone
);

CREATE TABLE zone_ports (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    port integer NOT NULL,
    port_type smallint DEFAULT 7 NOT NULL,
    tls boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE zone_switches (
    zone_id uuid NOT NULL,
    name text NOT NULL,
    reason text NOT NULL,
    author text NOT NULL,
    until timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE zone_versions (
    id uuid NOT NULL,
    zone_id uuid NOT NULL,
    version integer NOT NULL,
    content jsonb NOT NULL,
    retained_ports jsonb DEFAULT '[]'::jsonb NOT NULL,
    state text NOT NULL,
    nodes uuid[] DEFAULT ARRAY[]::uuid[],
    reason text DEFAULT ''::text NOT NULL,
    author text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    settled_at timestamp(3) with time zone,
    message_code jsonb
);

CREATE TABLE zones (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    name text NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    published_revision integer DEFAULT 0 NOT NULL,
    digest text DEFAULT '0000000000000000000000000000000000000000000000000000000000000000'::text NOT NULL,
    tombstone_floor integer DEFAULT 0 NOT NULL,
    key_sealed text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    force_ssl_redirect_code smallint DEFAULT 301 NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    key_name text DEFAULT 'first'::text NOT NULL,
    key_since timestamp(3) with time zone
);

-- Defaults

ALTER TABLE ONLY audit_changes ALTER COLUMN id SET DEFAULT nextval('audit_changes_id_seq'::regclass);
ALTER TABLE ONLY dns_plans ALTER COLUMN id SET DEFAULT nextval('dns_plans_id_seq'::regclass);
ALTER TABLE ONLY outbox ALTER COLUMN id SET DEFAULT nextval('outbox_id_seq'::regclass);
ALTER TABLE ONLY rollout_lines ALTER COLUMN id SET DEFAULT nextval('rollout_lines_id_seq'::regclass);
ALTER TABLE ONLY site_changes ALTER COLUMN id SET DEFAULT nextval('site_changes_id_seq'::regclass);
ALTER TABLE ONLY site_versions ALTER COLUMN id SET DEFAULT nextval('site_versions_id_seq'::regclass);

-- Constraints

ALTER TABLE accounts ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE acme_accounts ADD CONSTRAINT acme_accounts_pkey PRIMARY KEY (id);
ALTER TABLE acme_challenges ADD CONSTRAINT acme_challenges_pkey PRIMARY KEY (token, order_id);
ALTER TABLE acme_placements ADD CONSTRAINT acme_placements_pkey PRIMARY KEY (id);
ALTER TABLE announcements ADD CONSTRAINT announcements_pkey PRIMARY KEY (id);
ALTER TABLE anti_headers ADD CONSTRAINT anti_headers_pkey PRIMARY KEY (id);
ALTER TABLE anti_referers ADD CONSTRAINT anti_referers_pkey PRIMARY KEY (id);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE audit_changes ADD CONSTRAINT audit_changes_pkey PRIMARY KEY (id);
ALTER TABLE audit_heads ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (chain);
ALTER TABLE audit_rows ADD CONSTRAINT audit_rows_pkey PRIMARY KEY (req_id);
ALTER TABLE authenticator_setups ADD CONSTRAINT authenticator_setups_pkey PRIMARY KEY (id);
ALTER TABLE authenticators ADD CONSTRAINT authenticators_pkey PRIMARY KEY (account_id);
ALTER TABLE block_holders ADD CONSTRAINT block_holders_pkey PRIMARY KEY (node_id);
ALTER TABLE block_sets ADD CONSTRAINT block_sets_pkey PRIMARY KEY (zone_id);
ALTER TABLE blocks ADD CONSTRAINT blocks_pkey PRIMARY KEY (id);
ALTER TABLE brand_images ADD CONSTRAINT brand_images_pkey PRIMARY KEY (id);
ALTER TABLE brandings ADD CONSTRAINT brandings_pkey PRIMARY KEY (id);
ALTER TABLE cache_rules ADD CONSTRAINT cache_rules_pkey PRIMARY KEY (id);
ALTER TABLE cache_settings ADD CONSTRAINT cache_settings_pkey PRIMARY KEY (site_id);
ALTER TABLE cached_now ADD CONSTRAINT cached_now_pkey PRIMARY KEY (node_id, site_id);
ALTER TABLE certificate_events ADD CONSTRAINT certificate_events_pkey PRIMARY KEY (id);
ALTER TABLE certificate_orders ADD CONSTRAINT certificate_orders_pkey PRIMARY KEY (id);
ALTER TABLE certificate_pairs ADD CONSTRAINT certificate_pairs_pkey PRIMARY KEY (certificate_id, key_type);
ALTER TABLE certificates ADD CONSTRAINT certificates_pkey PRIMARY KEY (id);
ALTER TABLE clients ADD CONSTRAINT clients_pkey PRIMARY KEY (id);
ALTER TABLE cnames ADD CONSTRAINT cnames_pkey PRIMARY KEY (id);
ALTER TABLE compressions ADD CONSTRAINT compressions_pkey PRIMARY KEY (site_id);
ALTER TABLE dns_names ADD CONSTRAINT dns_names_pkey PRIMARY KEY (setting_id, name);
ALTER TABLE dns_plans ADD CONSTRAINT dns_plans_pkey PRIMARY KEY (id);
ALTER TABLE dns_setting_states ADD CONSTRAINT dns_setting_states_pkey PRIMARY KEY (setting_id);
ALTER TABLE dns_settings ADD CONSTRAINT dns_settings_pkey PRIMARY KEY (id);
ALTER TABLE dns_targets ADD CONSTRAINT dns_targets_pkey PRIMARY KEY (client_id, label);
ALTER TABLE domain_modules ADD CONSTRAINT domain_modules_pkey PRIMARY KEY (domain_id, kind);
ALTER TABLE domains ADD CONSTRAINT domains_pkey PRIMARY KEY (id);
ALTER TABLE edge_documents ADD CONSTRAINT edge_documents_pkey PRIMARY KEY (zone_id, key);
ALTER TABLE email_settings ADD CONSTRAINT email_settings_pkey PRIMARY KEY (client_id);
ALTER TABLE error_pages ADD CONSTRAINT error_pages_pkey PRIMARY KEY (id);
ALTER TABLE group_members ADD CONSTRAINT group_members_pkey PRIMARY KEY (id);
ALTER TABLE group_states ADD CONSTRAINT group_states_pkey PRIMARY KEY (group_id);
ALTER TABLE groups ADD CONSTRAINT groups_pkey PRIMARY KEY (id);
ALTER TABLE idempotent_calls ADD CONSTRAINT idempotent_calls_pkey PRIMARY KEY (account_id, key_hash);
ALTER TABLE job_receipts ADD CONSTRAINT job_receipts_pkey PRIMARY KEY (job_id, node_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE licenses ADD CONSTRAINT licenses_pkey PRIMARY KEY (client_id);
ALTER TABLE login_challenges ADD CONSTRAINT login_challenges_pkey PRIMARY KEY (id);
ALTER TABLE login_failures ADD CONSTRAINT login_failures_pkey PRIMARY KEY (id);
ALTER TABLE mailed_tokens ADD CONSTRAINT mailed_tokens_pkey PRIMARY KEY (id);
ALTER TABLE modules ADD CONSTRAINT modules_pkey PRIMARY KEY (id);
ALTER TABLE name_claims ADD CONSTRAINT name_claims_pkey PRIMARY KEY (domain_id);
ALTER TABLE name_proof_settings ADD CONSTRAINT name_proof_settings_pkey PRIMARY KEY (client_id);
ALTER TABLE name_proofs ADD CONSTRAINT name_proofs_pkey PRIMARY KEY (id);
ALTER TABLE nginx_defaults ADD CONSTRAINT nginx_defaults_pkey PRIMARY KEY (client_id, part);
ALTER TABLE node_job_steps ADD CONSTRAINT node_job_steps_pkey PRIMARY KEY (job_id, "position");
ALTER TABLE node_jobs ADD CONSTRAINT node_jobs_pkey PRIMARY KEY (id);
ALTER TABLE node_standings ADD CONSTRAINT node_standings_pkey PRIMARY KEY (node_id);
ALTER TABLE node_states ADD CONSTRAINT node_states_pkey PRIMARY KEY (node_id);
ALTER TABLE nodes ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);
ALTER TABLE oidc_providers ADD CONSTRAINT oidc_providers_pkey PRIMARY KEY (client_id);
ALTER TABLE oidc_sign_ins ADD CONSTRAINT oidc_sign_ins_pkey PRIMARY KEY (id);
ALTER TABLE origin_states ADD CONSTRAINT origin_states_pkey PRIMARY KEY (upstream_id, node_id);
ALTER TABLE outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE outgoing_mails ADD CONSTRAINT outgoing_mails_pkey PRIMARY KEY (id);
ALTER TABLE passkey_challenges ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (id);
ALTER TABLE passkeys ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
ALTER TABLE port_claims ADD CONSTRAINT port_claims_pkey PRIMARY KEY (zone_id, protocol, port);
ALTER TABLE port_rules ADD CONSTRAINT port_rules_pkey PRIMARY KEY (id);
ALTER TABLE port_upstreams ADD CONSTRAINT port_upstreams_pkey PRIMARY KEY (id);
ALTER TABLE preheat_caches ADD CONSTRAINT preheat_caches_pkey PRIMARY KEY (id);
ALTER TABLE preheat_copies ADD CONSTRAINT preheat_copies_pkey PRIMARY KEY (preheat_id, node_id);
ALTER TABLE products ADD CONSTRAINT products_pkey PRIMARY KEY (id);
ALTER TABLE proof_tokens ADD CONSTRAINT proof_tokens_pkey PRIMARY KEY (holder_id);
ALTER TABLE purges ADD CONSTRAINT purges_pkey PRIMARY KEY (id);
ALTER TABLE rate_counts ADD CONSTRAINT rate_counts_pkey PRIMARY KEY (key);
ALTER TABLE rates ADD CONSTRAINT rates_pkey PRIMARY KEY (id);
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (id);
ALTER TABLE redirects ADD CONSTRAINT redirects_pkey PRIMARY KEY (id);
ALTER TABLE revoked_keys ADD CONSTRAINT revoked_keys_pkey PRIMARY KEY (public_key);
ALTER TABLE roles ADD CONSTRAINT roles_pkey PRIMARY KEY (id);
ALTER TABLE rollout_lines ADD CONSTRAINT rollout_lines_pkey PRIMARY KEY (id);
ALTER TABLE rollout_nodes ADD CONSTRAINT rollout_nodes_pkey PRIMARY KEY (rollout_id, node_id);
ALTER TABLE rollout_waves ADD CONSTRAINT rollout_waves_pkey PRIMARY KEY (rollout_id, "position");
ALTER TABLE rollout_zones ADD CONSTRAINT rollout_zones_pkey PRIMARY KEY (rollout_id, zone_id);
ALTER TABLE rollouts ADD CONSTRAINT rollouts_pkey PRIMARY KEY (id);
ALTER TABLE sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE site_assignments ADD CONSTRAINT site_assignments_pkey PRIMARY KEY (site_id, account_id);
ALTER TABLE site_changes ADD CONSTRAINT site_changes_pkey PRIMARY KEY (id);
ALTER TABLE site_dns ADD CONSTRAINT site_dns_pkey PRIMARY KEY (id);
ALTER TABLE site_ports ADD CONSTRAINT site_ports_pkey PRIMARY KEY (site_id, zone_port_id);
ALTER TABLE site_versions ADD CONSTRAINT site_versions_pkey PRIMARY KEY (id);
ALTER TABLE sites ADD CONSTRAINT sites_pkey PRIMARY KEY (id);
ALTER TABLE token_keys ADD CONSTRAINT token_keys_pkey PRIMARY KEY (id);
ALTER TABLE upstreams ADD CONSTRAINT upstreams_pkey PRIMARY KEY (id);
ALTER TABLE virtual_nodes ADD CONSTRAINT virtual_nodes_pkey PRIMARY KEY (id);
ALTER TABLE virtual_records ADD CONSTRAINT virtual_records_pkey PRIMARY KEY (id);
ALTER TABLE zone_assignments ADD CONSTRAINT zone_assignments_pkey PRIMARY KEY (zone_id, account_id);
ALTER TABLE zone_key_changes ADD CONSTRAINT zone_key_changes_pkey PRIMARY KEY (id);
ALTER TABLE zone_ports ADD CONSTRAINT zone_ports_pkey PRIMARY KEY (id);
ALTER TABLE zone_switches ADD CONSTRAINT zone_switches_pkey PRIMARY KEY (zone_id, name);
ALTER TABLE zone_versions ADD CONSTRAINT zone_versions_pkey PRIMARY KEY (id);
ALTER TABLE zones ADD CONSTRAINT zones_pkey PRIMARY KEY (id);

-- Indexes

CREATE INDEX accounts_client_id_kind_created_at_id_idx ON accounts USING btree (client_id, kind, created_at, id);
CREATE INDEX accounts_created_by_id_idx ON accounts USING btree (created_by_id);
CREATE UNIQUE INDEX accounts_kind_email_key ON accounts USING btree (kind, email);
CREATE INDEX accounts_parent_id_is_root_idx ON accounts USING btree (parent_id, is_root);
CREATE INDEX accounts_role_id_idx ON accounts USING btree (role_id);
CREATE INDEX acme_challenges_order_id_idx ON acme_challenges USING btree (order_id);
CREATE INDEX acme_placements_ca_at_idx ON acme_placements USING btree (ca, at);
CREATE INDEX announcements_client_id_position_idx ON announcements USING btree (client_id, "position");
CREATE INDEX anti_headers_domain_id_priority_id_idx ON anti_headers USING btree (domain_id, priority, id);
CREATE INDEX anti_headers_site_id_idx ON anti_headers USING btree (site_id);
CREATE INDEX anti_referers_domain_id_priority_id_idx ON anti_referers USING btree (domain_id, priority, id);
CREATE INDEX anti_referers_site_id_idx ON anti_referers USING btree (site_id);
CREATE INDEX api_tokens_account_id_idx ON api_tokens USING btree (account_id);
CREATE UNIQUE INDEX api_tokens_token_hash_key ON api_tokens USING btree (token_hash);
CREATE INDEX audit_changes_req_id_idx ON audit_changes USING btree (req_id);

-- Finds the calls of an action. Most calls have none.
CREATE INDEX audit_rows_action_id_at_idx ON audit_rows USING btree (action_id, at) WHERE (action_id IS NOT NULL);
CREATE INDEX audit_rows_at_req_id_idx ON audit_rows USING btree (at, req_id);
CREATE UNIQUE INDEX audit_rows_chain_seq_key ON audit_rows USING btree (chain, seq);
CREATE INDEX audit_rows_client_id_at_req_id_idx ON audit_rows USING btree (client_id, at, req_id);
CREATE INDEX audit_rows_root_id_at_req_id_idx ON audit_rows USING btree (root_id, at, req_id);
CREATE INDEX authenticator_setups_account_id_idx ON authenticator_setups USING btree (account_id);
CREATE INDEX blocks_node_id_idx ON blocks USING btree (node_id);
CREATE INDEX blocks_site_id_idx ON blocks USING btree (site_id);
CREATE INDEX blocks_until_idx ON blocks USING btree (until);
CREATE UNIQUE INDEX blocks_zone_id_network_key ON blocks USING btree (zone_id, network);
CREATE INDEX blocks_zone_id_revision_idx ON blocks USING btree (zone_id, revision);
CREATE INDEX blocks_zone_id_until_idx ON blocks USING btree (zone_id, until);
CREATE UNIQUE INDEX brand_images_branding_id_slot_key ON brand_images USING btree (branding_id, slot);
CREATE INDEX brand_images_hash_idx ON brand_images USING btree (hash);
CREATE INDEX brandings_client_id_created_at_idx ON brandings USING btree (client_id, created_at);
CREATE UNIQUE INDEX brandings_host_key ON brandings USING btree (host);
CREATE INDEX cache_rules_site_id_priority_created_at_idx ON cache_rules USING btree (site_id, priority, created_at);
CREATE INDEX cached_now_site_id_idx ON cached_now USING btree (site_id);
CREATE INDEX certificate_events_at_idx ON certificate_events USING btree (at);
CREATE INDEX certificate_events_certificate_id_at_idx ON certificate_events USING btree (certificate_id, at);
CREATE INDEX certificate_orders_certificate_id_created_at_idx ON certificate_orders USING btree (certificate_id, created_at);
CREATE INDEX certificate_orders_ended_at_idx ON certificate_orders USING btree (ended_at);
CREATE INDEX certificate_orders_job_id_idx ON certificate_orders USING btree (job_id);
CREATE UNIQUE INDEX certificate_orders_open_for_key ON certificate_orders USING btree (open_for);
CREATE INDEX certificate_orders_state_due_at_idx ON certificate_orders USING btree (state, due_at);
CREATE INDEX certificates_ask_at_idx ON certificates USING btree (ask_at);
CREATE INDEX certificates_next_at_idx ON certificates USING btree (next_at);
CREATE INDEX certificates_not_after_idx ON certificates USING btree (not_after);
CREATE UNIQUE INDEX certificates_site_id_name_key ON certificates USING btree (site_id, name);
CREATE UNIQUE INDEX cnames_client_id_name_key ON cnames USING btree (client_id, name);
CREATE UNIQUE INDEX cnames_default_key ON cnames USING btree (client_id) WHERE is_default;
CREATE INDEX cnames_setting_id_idx ON cnames USING btree (setting_id);
CREATE UNIQUE INDEX dns_names_id_key ON dns_names USING btree (id);
CREATE INDEX dns_names_setting_id_due_at_idx ON dns_names USING btree (setting_id, due_at);
CREATE UNIQUE INDEX dns_settings_client_id_root_domain_key ON dns_settings USING btree (client_id, root_domain);
CREATE INDEX domain_modules_module_id_domain_id_idx ON domain_modules USING btree (module_id, domain_id);
CREATE INDEX domain_modules_site_id_idx ON domain_modules USING btree (site_id);
CREATE INDEX domains_certificate_id_idx ON domains USING btree (certificate_id);
CREATE INDEX domains_cname_due_at_idx ON domains USING btree (cname_due_at);
CREATE UNIQUE INDEX domains_enabled_name_key ON domains USING btree (enabled_name);
CREATE INDEX domains_origin_certificate_id_idx ON domains USING btree (origin_certificate_id);
CREATE INDEX domains_search_idx ON domains USING gin (search gin_trgm_ops);
CREATE INDEX domains_site_id_created_at_id_idx ON domains USING btree (site_id, created_at, id);
CREATE INDEX domains_site_id_enabled_force_ssl_cname_status_cert_status_idx ON domains USING btree (site_id, enabled, force_ssl, cname_status, cert_status);
CREATE UNIQUE INDEX domains_site_id_name_key ON domains USING btree (site_id, name);
CREATE INDEX domains_site_id_updated_at_id_idx ON domains USING btree (site_id, updated_at, id);
CREATE INDEX domains_tags_idx ON domains USING gin (tags);
CREATE INDEX edge_documents_zone_id_revision_idx ON edge_documents USING btree (zone_id, revision);
CREATE UNIQUE INDEX error_pages_site_id_code_key ON error_pages USING btree (site_id, code);
CREATE UNIQUE INDEX group_members_group_id_line_node_id_key ON group_members USING btree (group_id, line, node_id);
CREATE UNIQUE INDEX group_members_group_id_line_virtual_node_id_key ON group_members USING btree (group_id, line, virtual_node_id);
CREATE INDEX group_members_node_id_idx ON group_members USING btree (node_id);
CREATE INDEX group_members_virtual_node_id_idx ON group_members USING btree (virtual_node_id);
CREATE INDEX groups_backup_group_id_idx ON groups USING btree (backup_group_id);
CREATE UNIQUE INDEX groups_dns_label_key ON groups USING btree (dns_label);
CREATE UNIQUE INDEX groups_zone_id_name_key ON groups USING btree (zone_id, name);
CREATE INDEX idempotent_calls_created_at_idx ON idempotent_calls USING btree (created_at);
CREATE INDEX job_receipts_node_id_state_idx ON job_receipts USING btree (node_id, state);
CREATE INDEX jobs_site_id_created_at_idx ON jobs USING btree (site_id, created_at);
CREATE INDEX jobs_state_idx ON jobs USING btree (state);
CREATE INDEX login_challenges_account_id_idx ON login_challenges USING btree (account_id);
CREATE UNIQUE INDEX login_challenges_key_hash_key ON login_challenges USING btree (key_hash);
CREATE INDEX login_failures_first_at_idx ON login_failures USING btree (first_at);
CREATE INDEX mailed_tokens_account_id_idx ON mailed_tokens USING btree (account_id);
CREATE UNIQUE INDEX mailed_tokens_token_hash_key ON mailed_tokens USING btree (token_hash);
CREATE UNIQUE INDEX modules_site_id_kind_name_key ON modules USING btree (site_id, kind, name);
CREATE INDEX name_claims_base_idx ON name_claims USING btree (base);
CREATE INDEX name_claims_name_idx ON name_claims USING btree (name);
CREATE INDEX name_claims_parent_idx ON name_claims USING btree (parent);
CREATE INDEX name_claims_reversed_idx ON name_claims USING btree (reversed);
CREATE INDEX name_proofs_due_at_idx ON name_proofs USING btree (due_at);
CREATE UNIQUE INDEX name_proofs_holder_id_name_key ON name_proofs USING btree (holder_id, name);
CREATE INDEX node_jobs_node_id_created_at_idx ON node_jobs USING btree (node_id, created_at);

-- One open job per node.
CREATE UNIQUE INDEX node_jobs_open_key ON node_jobs USING btree (node_id) WHERE (state = ANY (ARRAY['waiting'::text, 'processing'::text]));
CREATE INDEX node_jobs_state_due_at_idx ON node_jobs USING btree (state, due_at);
CREATE UNIQUE INDEX nodes_join_hash_key ON nodes USING btree (join_hash);
CREATE INDEX nodes_parent_id_idx ON nodes USING btree (parent_id);
CREATE UNIQUE INDEX nodes_public_key_key ON nodes USING btree (public_key);
CREATE UNIQUE INDEX nodes_zone_id_name_key ON nodes USING btree (zone_id, name);
CREATE INDEX oidc_sign_ins_expires_at_idx ON oidc_sign_ins USING btree (expires_at);
CREATE INDEX origin_states_node_id_idx ON origin_states USING btree (node_id);
CREATE INDEX origin_states_seen_at_idx ON origin_states USING btree (seen_at);
CREATE INDEX outbox_zone_id_failed_at_idx ON outbox USING btree (zone_id, failed_at);
CREATE INDEX outgoing_mails_due_at_idx ON outgoing_mails USING btree (due_at);
CREATE INDEX passkey_challenges_expires_at_idx ON passkey_challenges USING btree (expires_at);
CREATE INDEX passkeys_account_id_idx ON passkeys USING btree (account_id);
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys USING btree (credential_id);
CREATE INDEX port_claims_holder_idx ON port_claims USING btree (holder);
CREATE INDEX port_rules_site_id_port_idx ON port_rules USING btree (site_id, port);
CREATE UNIQUE INDEX port_upstreams_port_rule_id_address_port_key ON port_upstreams USING btree (port_rule_id, address, port);
CREATE INDEX port_upstreams_site_id_idx ON port_upstreams USING btree (site_id);
CREATE INDEX preheat_caches_domain_id_idx ON preheat_caches USING btree (domain_id);
CREATE INDEX preheat_caches_site_id_idx ON preheat_caches USING btree (site_id);
CREATE UNIQUE INDEX preheat_caches_zone_id_url_key ON preheat_caches USING btree (zone_id, url);
CREATE INDEX preheat_copies_node_id_due_at_idx ON preheat_copies USING btree (node_id, due_at);
CREATE INDEX products_backup_group_id_idx ON products USING btree (backup_group_id);
CREATE UNIQUE INDEX products_client_id_name_key ON products USING btree (client_id, name);
CREATE INDEX products_group_id_idx ON products USING btree (group_id);
CREATE INDEX products_zone_id_idx ON products USING btree (zone_id);
CREATE INDEX purges_job_id_idx ON purges USING btree (job_id);
CREATE INDEX purges_site_id_created_at_idx ON purges USING btree (site_id, created_at);
CREATE INDEX rate_counts_expire_idx ON rate_counts USING btree (expire);
CREATE INDEX rates_site_id_priority_id_idx ON rates USING btree (site_id, priority, id);
CREATE INDEX recovery_codes_account_id_idx ON recovery_codes USING btree (account_id);
CREATE INDEX redirects_module_id_created_at_id_idx ON redirects USING btree (module_id, created_at, id);
CREATE INDEX redirects_site_id_idx ON redirects USING btree (site_id);
CREATE UNIQUE INDEX roles_owner_id_name_key ON roles USING btree (owner_id, name);
CREATE INDEX rollout_lines_node_id_id_idx ON rollout_lines USING btree (node_id, id);
CREATE INDEX rollout_lines_rollout_id_id_idx ON rollout_lines USING btree (rollout_id, id);

-- A node is in one open rollout.
CREATE UNIQUE INDEX rollout_nodes_active_key ON rollout_nodes USING btree (node_id) WHERE active;
CREATE INDEX rollout_nodes_node_id_idx ON rollout_nodes USING btree (node_id);
CREATE INDEX rollout_zones_zone_id_idx ON rollout_zones USING btree (zone_id);
CREATE INDEX rollouts_client_id_created_at_idx ON rollouts USING btree (client_id, created_at);
CREATE INDEX rollouts_state_idx ON rollouts USING btree (state);
CREATE INDEX sessions_account_id_idx ON sessions USING btree (account_id);
CREATE INDEX sessions_api_token_id_idx ON sessions USING btree (api_token_id);
CREATE UNIQUE INDEX sessions_previous_hash_key ON sessions USING btree (previous_hash);
CREATE INDEX sessions_proxy_id_idx ON sessions USING btree (proxy_id);
CREATE INDEX sessions_proxy_session_id_idx ON sessions USING btree (proxy_session_id);
CREATE UNIQUE INDEX sessions_token_hash_key ON sessions USING btree (token_hash);
CREATE INDEX site_assignments_account_id_idx ON site_assignments USING btree (account_id);
CREATE INDEX site_changes_version_id_idx ON site_changes USING btree (version_id);
CREATE INDEX site_dns_site_id_idx ON site_dns USING btree (site_id);
CREATE INDEX site_ports_zone_port_id_idx ON site_ports USING btree (zone_port_id);
CREATE INDEX site_versions_at_idx ON site_versions USING btree (at);
CREATE UNIQUE INDEX site_versions_site_id_tx_key ON site_versions USING btree (site_id, tx);
CREATE UNIQUE INDEX site_versions_site_id_version_key ON site_versions USING btree (site_id, version);
CREATE INDEX sites_backup_group_id_idx ON sites USING btree (backup_group_id);
CREATE INDEX sites_client_id_created_at_id_idx ON sites USING btree (client_id, created_at, id);
CREATE UNIQUE INDEX sites_client_id_name_key ON sites USING btree (client_id, name);
CREATE UNIQUE INDEX sites_cname_label_key ON sites USING btree (cname_label);
CREATE INDEX sites_group_id_idx ON sites USING btree (group_id);
CREATE INDEX sites_owner_id_idx ON sites USING btree (owner_id);
CREATE INDEX sites_product_id_idx ON sites USING btree (product_id);
CREATE INDEX sites_zone_id_idx ON sites USING btree (zone_id);
CREATE INDEX token_keys_site_id_idx ON token_keys USING btree (site_id);
CREATE UNIQUE INDEX upstreams_domain_id_address_port_key ON upstreams USING btree (domain_id, address, port);
CREATE INDEX upstreams_site_id_address_domain_id_idx ON upstreams USING btree (site_id, address, domain_id);
CREATE UNIQUE INDEX virtual_nodes_zone_id_name_key ON virtual_nodes USING btree (zone_id, name);
CREATE INDEX virtual_records_node_id_idx ON virtual_records USING btree (node_id);
CREATE UNIQUE INDEX virtual_records_virtual_node_id_cname_key ON virtual_records USING btree (virtual_node_id, cname);
CREATE UNIQUE INDEX virtual_records_virtual_node_id_ip_key ON virtual_records USING btree (virtual_node_id, ip);
CREATE UNIQUE INDEX virtual_records_virtual_node_id_node_id_key ON virtual_records USING btree (virtual_node_id, node_id);
CREATE INDEX zone_assignments_account_id_idx ON zone_assignments USING btree (account_id);
CREATE UNIQUE INDEX zone_key_changes_active_key ON zone_key_changes USING btree (zone_id) WHERE (state = ANY (ARRAY['delivering'::text, 'sealing'::text, 'retiring'::text]));

-- A zone has one waiting and one running key change.
CREATE UNIQUE INDEX zone_key_changes_waiting_key ON zone_key_changes USING btree (zone_id) WHERE (state = 'waiting'::text);
CREATE INDEX zone_key_changes_zone_id_created_at_idx ON zone_key_changes USING btree (zone_id, created_at);
CREATE UNIQUE INDEX zone_ports_zone_id_port_key ON zone_ports USING btree (zone_id, port);
CREATE INDEX zone_switches_until_idx ON zone_switches USING btree (until);

-- A zone has one live version, and one on trial.
CREATE UNIQUE INDEX zone_versions_standing ON zone_versions USING btree (zone_id, state) WHERE (state = ANY (ARRAY['live'::text, 'trial'::text]));
CREATE UNIQUE INDEX zone_versions_zone_id_version_key ON zone_versions USING btree (zone_id, version);
CREATE UNIQUE INDEX zones_client_id_name_key ON zones USING btree (client_id, name);

-- Triggers

CREATE TRIGGER accounts_end_sessions AFTER UPDATE OF status ON accounts FOR EACH ROW WHEN (((old.status = 'normal'::account_status) AND (new.status <> 'normal'::account_status))) EXECUTE FUNCTION end_sessions_of_account();
CREATE TRIGGER accounts_notify AFTER DELETE OR UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION notify_identity();
CREATE TRIGGER accounts_publish_sites AFTER UPDATE OF status ON accounts FOR EACH ROW WHEN ((new.is_root AND (new.kind <> 'admin'::account_kind) AND (old.status <> new.status) AND ((old.status = ANY (ARRAY['lock'::account_status, 'expired'::account_status])) OR (new.status = ANY (ARRAY['lock'::account_status, 'expired'::account_status]))))) EXECUTE FUNCTION publish_sites_of_account();
CREATE TRIGGER acme_challenges_publish AFTER INSERT OR DELETE ON acme_challenges FOR EACH ROW EXECUTE FUNCTION publish_acme_challenge();
CREATE TRIGGER api_tokens_notify_delete AFTER DELETE ON api_tokens FOR EACH ROW EXECUTE FUNCTION notify_identity();
CREATE TRIGGER ask_zone_key_left AFTER UPDATE OF public_key, zone_id ON nodes FOR EACH ROW WHEN (((old.public_key IS NOT NULL) AND ((old.public_key IS DISTINCT FROM new.public_key) OR (old.zone_id <> new.zone_id)))) EXECUTE FUNCTION ask_zone_key();
CREATE TRIGGER ask_zone_key_removed AFTER DELETE ON nodes FOR EACH ROW WHEN ((old.public_key IS NOT NULL)) EXECUTE FUNCTION ask_zone_key();
CREATE TRIGGER audit_delete AFTER DELETE ON accounts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON acme_accounts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON acme_challenges REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('token', 'order_id');
CREATE TRIGGER audit_delete AFTER DELETE ON acme_placements REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON announcements REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON anti_headers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON anti_referers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON api_tokens REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON authenticator_setups REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON authenticators REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('account_id');
CREATE TRIGGER audit_delete AFTER DELETE ON block_holders REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('node_id');
CREATE TRIGGER audit_delete AFTER DELETE ON block_sets REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id');
CREATE TRIGGER audit_delete AFTER DELETE ON blocks REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON brand_images REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON brandings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON cache_rules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON cache_settings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_delete AFTER DELETE ON certificate_events REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON certificate_orders REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON certificate_pairs REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('certificate_id', 'key_type');
CREATE TRIGGER audit_delete AFTER DELETE ON certificates REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON clients REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON cnames REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON compressions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_delete AFTER DELETE ON dns_settings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON domain_modules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('domain_id', 'kind');
CREATE TRIGGER audit_delete AFTER DELETE ON domains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON email_settings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_delete AFTER DELETE ON error_pages REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON group_members REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON groups REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON licenses REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_delete AFTER DELETE ON mailed_tokens REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON modules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON name_proof_settings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_delete AFTER DELETE ON nginx_defaults REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id', 'part');
CREATE TRIGGER audit_delete AFTER DELETE ON node_jobs REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON nodes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON oidc_providers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_delete AFTER DELETE ON origin_states REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('upstream_id', 'node_id');
CREATE TRIGGER audit_delete AFTER DELETE ON passkeys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON port_rules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON port_upstreams REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON preheat_caches REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON products REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON purges REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON rates REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON recovery_codes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON redirects REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON revoked_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('public_key');
CREATE TRIGGER audit_delete AFTER DELETE ON roles REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON rollout_nodes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'node_id');
CREATE TRIGGER audit_delete AFTER DELETE ON rollout_waves REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'position');
CREATE TRIGGER audit_delete AFTER DELETE ON rollout_zones REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'zone_id');
CREATE TRIGGER audit_delete AFTER DELETE ON rollouts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON sessions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON site_assignments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'account_id');
CREATE TRIGGER audit_delete AFTER DELETE ON site_dns REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON site_ports REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'zone_port_id');
CREATE TRIGGER audit_delete AFTER DELETE ON sites REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON token_keys REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON upstreams REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON virtual_nodes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON virtual_records REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON zone_assignments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'account_id');
CREATE TRIGGER audit_delete AFTER DELETE ON zone_key_changes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON zone_ports REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON zone_switches REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'name');
CREATE TRIGGER audit_delete AFTER DELETE ON zone_versions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_delete AFTER DELETE ON zones REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_heads_keep BEFORE DELETE OR TRUNCATE ON audit_heads FOR EACH STATEMENT EXECUTE FUNCTION audit_keep();
CREATE TRIGGER audit_insert AFTER INSERT ON accounts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON acme_accounts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON acme_challenges REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('token', 'order_id');
CREATE TRIGGER audit_insert AFTER INSERT ON acme_placements REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON announcements REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON anti_headers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON anti_referers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON api_tokens REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON authenticator_setups REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON authenticators REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('account_id');
CREATE TRIGGER audit_insert AFTER INSERT ON block_holders REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('node_id');
CREATE TRIGGER audit_insert AFTER INSERT ON block_sets REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id');
CREATE TRIGGER audit_insert AFTER INSERT ON blocks REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON brand_images REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON brandings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON cache_rules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON cache_settings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_insert AFTER INSERT ON certificate_events REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON certificate_orders REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON certificate_pairs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('certificate_id', 'key_type');
CREATE TRIGGER audit_insert AFTER INSERT ON certificates REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON clients REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON cnames REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON compressions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_insert AFTER INSERT ON dns_settings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON domain_modules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('domain_id', 'kind');
CREATE TRIGGER audit_insert AFTER INSERT ON domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON email_settings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_insert AFTER INSERT ON error_pages REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON group_members REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON groups REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON jobs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON licenses REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_insert AFTER INSERT ON mailed_tokens REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON modules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON name_proof_settings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_insert AFTER INSERT ON nginx_defaults REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id', 'part');
CREATE TRIGGER audit_insert AFTER INSERT ON node_jobs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON nodes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON oidc_providers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_insert AFTER INSERT ON origin_states REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('upstream_id', 'node_id');
CREATE TRIGGER audit_insert AFTER INSERT ON passkeys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON port_rules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON port_upstreams REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON preheat_caches REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON products REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON purges REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON rates REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON recovery_codes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON redirects REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON revoked_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('public_key');
CREATE TRIGGER audit_insert AFTER INSERT ON roles REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON rollout_nodes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'node_id');
CREATE TRIGGER audit_insert AFTER INSERT ON rollout_waves REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'position');
CREATE TRIGGER audit_insert AFTER INSERT ON rollout_zones REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'zone_id');
CREATE TRIGGER audit_insert AFTER INSERT ON rollouts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON sessions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON site_assignments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'account_id');
CREATE TRIGGER audit_insert AFTER INSERT ON site_dns REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON site_ports REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'zone_port_id');
CREATE TRIGGER audit_insert AFTER INSERT ON sites REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON token_keys REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON upstreams REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON virtual_nodes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON virtual_records REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON zone_assignments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'account_id');
CREATE TRIGGER audit_insert AFTER INSERT ON zone_key_changes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON zone_ports REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON zone_switches REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'name');
CREATE TRIGGER audit_insert AFTER INSERT ON zone_versions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_insert AFTER INSERT ON zones REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_rows_keep BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_keep();
CREATE TRIGGER audit_update AFTER UPDATE ON accounts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON acme_accounts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON acme_challenges REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('token', 'order_id');
CREATE TRIGGER audit_update AFTER UPDATE ON acme_placements REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON announcements REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON anti_headers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON anti_referers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON api_tokens REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON authenticator_setups REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON authenticators REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('account_id');
CREATE TRIGGER audit_update AFTER UPDATE ON block_holders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('node_id');
CREATE TRIGGER audit_update AFTER UPDATE ON block_sets REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id');
CREATE TRIGGER audit_update AFTER UPDATE ON blocks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON brand_images REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON brandings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON cache_rules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON cache_settings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_update AFTER UPDATE ON certificate_events REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON certificate_orders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON certificate_pairs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('certificate_id', 'key_type');
CREATE TRIGGER audit_update AFTER UPDATE ON certificates REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON clients REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON cnames REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON compressions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id');
CREATE TRIGGER audit_update AFTER UPDATE ON dns_settings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON domain_modules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('domain_id', 'kind');
CREATE TRIGGER audit_update AFTER UPDATE ON domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON email_settings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_update AFTER UPDATE ON error_pages REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON group_members REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON groups REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON licenses REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_update AFTER UPDATE ON mailed_tokens REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON modules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON name_proof_settings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_update AFTER UPDATE ON nginx_defaults REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id', 'part');
CREATE TRIGGER audit_update AFTER UPDATE ON node_jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON nodes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON oidc_providers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('client_id');
CREATE TRIGGER audit_update AFTER UPDATE ON origin_states REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('upstream_id', 'node_id');
CREATE TRIGGER audit_update AFTER UPDATE ON passkeys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON port_rules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON port_upstreams REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON preheat_caches REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON products REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON purges REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON rates REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON recovery_codes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON redirects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON revoked_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('public_key');
CREATE TRIGGER audit_update AFTER UPDATE ON roles REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON rollout_nodes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'node_id');
CREATE TRIGGER audit_update AFTER UPDATE ON rollout_waves REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'position');
CREATE TRIGGER audit_update AFTER UPDATE ON rollout_zones REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('rollout_id', 'zone_id');
CREATE TRIGGER audit_update AFTER UPDATE ON rollouts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON sessions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON site_assignments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'account_id');
CREATE TRIGGER audit_update AFTER UPDATE ON site_dns REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON site_ports REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('site_id', 'zone_port_id');
CREATE TRIGGER audit_update AFTER UPDATE ON sites REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON token_keys REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON upstreams REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON virtual_nodes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON virtual_records REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON zone_assignments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'account_id');
CREATE TRIGGER audit_update AFTER UPDATE ON zone_key_changes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON zone_ports REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON zone_switches REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('zone_id', 'name');
CREATE TRIGGER audit_update AFTER UPDATE ON zone_versions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER audit_update AFTER UPDATE ON zones REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (((pg_trigger_depth() = 0) AND (current_setting('edgeloom.call'::text, true) <> ''::text))) EXECUTE FUNCTION audit_capture('id');
CREATE TRIGGER blocks_notify AFTER INSERT OR UPDATE OF revision ON block_sets FOR EACH STATEMENT EXECUTE FUNCTION notify_blocks();
CREATE TRIGGER certificate_orders_notify AFTER INSERT ON certificate_orders FOR EACH STATEMENT EXECUTE FUNCTION notify_orders();
CREATE TRIGGER claim_insert AFTER INSERT ON domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION claim_names();
CREATE TRIGGER claim_update AFTER UPDATE ON domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION claim_names();
CREATE TRIGGER domain_modules_take_site BEFORE INSERT ON domain_modules FOR EACH ROW EXECUTE FUNCTION take_site();
CREATE TRIGGER domains_enabled_name BEFORE INSERT OR UPDATE OF name, enabled, enabled_name ON domains FOR EACH ROW EXECUTE FUNCTION follow_enabled();
CREATE TRIGGER domains_search BEFORE INSERT OR UPDATE OF name, tags, search ON domains FOR EACH ROW EXECUTE FUNCTION follow_search();
CREATE TRIGGER group_members_steer AFTER INSERT OR DELETE OR UPDATE ON group_members FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER groups_forget_name AFTER DELETE ON groups FOR EACH ROW EXECUTE FUNCTION forget_group_name();
CREATE TRIGGER groups_lock_zone BEFORE INSERT ON groups FOR EACH ROW EXECUTE FUNCTION lock_zone_of_group();
CREATE TRIGGER groups_steer AFTER INSERT OR DELETE OR UPDATE ON groups FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER groups_take_waiting_sites AFTER INSERT ON groups REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION take_waiting_sites();
CREATE TRIGGER jobs_open_receipts AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION open_job_receipts();
CREATE TRIGGER jobs_purge_preheats AFTER INSERT ON jobs FOR EACH ROW WHEN ((new.kind ~~ 'purge%'::text)) EXECUTE FUNCTION purge_preheats();

-- Only connects, disconnects and nginx failures matter for steering.
CREATE TRIGGER node_states_steer AFTER UPDATE ON node_states FOR EACH ROW WHEN ((((old.connected_at IS NULL) IS DISTINCT FROM (new.connected_at IS NULL)) OR (old.nginx IS DISTINCT FROM new.nginx))) EXECUTE FUNCTION notify_steering();
CREATE TRIGGER nodes_change_preheats AFTER UPDATE ON nodes FOR EACH ROW WHEN ((((old.zone_id IS DISTINCT FROM new.zone_id) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.joined_at IS DISTINCT FROM new.joined_at))) EXECUTE FUNCTION copies_of_node();
CREATE TRIGGER nodes_join_preheats AFTER INSERT ON nodes FOR EACH ROW WHEN ((new.joined_at IS NOT NULL)) EXECUTE FUNCTION copies_of_node();
CREATE TRIGGER nodes_steer AFTER UPDATE ON nodes FOR EACH ROW WHEN ((((((((((old.enabled IS DISTINCT FROM new.enabled) OR (old.ip IS DISTINCT FROM new.ip)) OR (old.role IS DISTINCT FROM new.role)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.joined_at IS DISTINCT FROM new.joined_at)) OR (old.parent_id IS DISTINCT FROM new.parent_id)) OR (old.zone_id IS DISTINCT FROM new.zone_id)) OR (old.bandwidth_mbps IS DISTINCT FROM new.bandwidth_mbps)) OR (old.monitor IS DISTINCT FROM new.monitor))) EXECUTE FUNCTION notify_steering();
CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION notify_outbox();
CREATE TRIGGER outgoing_mails_notify AFTER INSERT ON outgoing_mails FOR EACH STATEMENT EXECUTE FUNCTION notify_mail();
CREATE TRIGGER plan_delete AFTER DELETE ON cnames REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_delete AFTER DELETE ON dns_targets REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_delete AFTER DELETE ON sites REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_insert AFTER INSERT ON cnames REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_insert AFTER INSERT ON dns_targets REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_insert AFTER INSERT ON sites REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON cnames REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON dns_targets REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON sites REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_moved_sites();
CREATE TRIGGER port_rules_claim AFTER INSERT OR UPDATE OF port, protocol ON port_rules FOR EACH ROW EXECUTE FUNCTION claim_forward();
CREATE TRIGGER port_rules_give_up AFTER DELETE ON port_rules FOR EACH ROW EXECUTE FUNCTION give_up_port();
CREATE TRIGGER port_upstreams_take_site BEFORE INSERT ON port_upstreams FOR EACH ROW EXECUTE FUNCTION take_site();
CREATE TRIGGER preheat_caches_copies AFTER INSERT ON preheat_caches REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION copies_of_preheats();
CREATE TRIGGER publish_delete AFTER DELETE ON name_claims REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_insert AFTER INSERT ON name_claims REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_update AFTER UPDATE ON name_claims REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER publish_update_from AFTER UPDATE ON name_claims REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION publish_covered_names();
CREATE TRIGGER roles_notify AFTER UPDATE ON roles FOR EACH ROW WHEN ((old.permissions IS DISTINCT FROM new.permissions)) EXECUTE FUNCTION notify_role();
CREATE TRIGGER sessions_end_proxied AFTER UPDATE ON sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION end_proxied_sessions();
CREATE TRIGGER sessions_notify_delete AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION notify_identity();
CREATE TRIGGER sessions_notify_end AFTER UPDATE ON sessions FOR EACH ROW WHEN ((old.revoked_at IS DISTINCT FROM new.revoked_at)) EXECUTE FUNCTION notify_identity();
CREATE CONSTRAINT TRIGGER site_versions_number AFTER INSERT ON site_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION number_site_version();
CREATE TRIGGER sites_fill_group BEFORE INSERT OR UPDATE OF group_id ON sites FOR EACH ROW WHEN ((new.group_id IS NULL)) EXECUTE FUNCTION fill_group_of_site();
CREATE TRIGGER sites_move_claims AFTER UPDATE OF owner_id, zone_id ON sites FOR EACH ROW WHEN (((old.zone_id <> new.zone_id) OR (old.owner_id IS DISTINCT FROM new.owner_id))) EXECUTE FUNCTION move_claims();
CREATE TRIGGER sites_publish_ports AFTER UPDATE OF status, owner_id ON sites FOR EACH ROW WHEN (((old.status <> new.status) OR (old.owner_id IS DISTINCT FROM new.owner_id))) EXECUTE FUNCTION publish_ports_of_site();
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON accounts FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON announcements FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON anti_headers FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON anti_referers FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON brandings FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON cache_rules FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON certificates FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON cnames FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON dns_settings FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON domains FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON email_settings FOR EACH ROW EXECUTE FUNCTION stamp_update('client_id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON error_pages FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON groups FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON licenses FOR EACH ROW EXECUTE FUNCTION stamp_update('client_id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON modules FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON name_proof_settings FOR EACH ROW EXECUTE FUNCTION stamp_update('client_id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON nginx_defaults FOR EACH ROW EXECUTE FUNCTION stamp_update('client_id', 'part');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON nodes FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON oidc_providers FOR EACH ROW EXECUTE FUNCTION stamp_update('client_id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON port_rules FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON products FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON rates FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON redirects FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON roles FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON site_dns FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON sites FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON virtual_nodes FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER stamp_update BEFORE UPDATE OF updated_at ON zones FOR EACH ROW EXECUTE FUNCTION stamp_update('id');
CREATE TRIGGER tell_node_jobs AFTER INSERT OR UPDATE OF due_at ON node_jobs FOR EACH STATEMENT EXECUTE FUNCTION tell_node_jobs();
CREATE TRIGGER tell_rollouts AFTER INSERT OR UPDATE OF state, fast ON rollouts FOR EACH STATEMENT EXECUTE FUNCTION tell_rollouts();
CREATE TRIGGER track_delete AFTER DELETE ON anti_headers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON anti_referers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON cache_rules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON cache_settings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON compressions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON domain_modules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('domain_id,kind', 'domain_id', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON domains REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at,enabled_name,search,cname_status,cname_due_at,cert_status');
CREATE TRIGGER track_delete AFTER DELETE ON error_pages REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON modules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON port_rules REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON port_upstreams REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'port_rule_id', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON rates REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON redirects REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'module_id', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON site_ports REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id,zone_port_id', '', 'updated_at');
CREATE TRIGGER track_delete AFTER DELETE ON upstreams REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON anti_headers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON anti_referers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON cache_rules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON cache_settings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON compressions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON domain_modules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('domain_id,kind', 'domain_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON domains REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at,enabled_name,search,cname_status,cname_due_at,cert_status');
CREATE TRIGGER track_insert AFTER INSERT ON error_pages REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON modules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON port_rules REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON port_upstreams REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'port_rule_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON rates REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON redirects REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'module_id', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON site_ports REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id,zone_port_id', '', 'updated_at');
CREATE TRIGGER track_insert AFTER INSERT ON upstreams REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON anti_headers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON anti_referers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON cache_rules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON cache_settings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON compressions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON domain_modules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('domain_id,kind', 'domain_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON domains REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at,enabled_name,search,cname_status,cname_due_at,cert_status');
CREATE TRIGGER track_update AFTER UPDATE ON error_pages REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON modules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON port_rules REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON port_upstreams REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'port_rule_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON rates REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON redirects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'module_id', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON site_ports REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('site_id,zone_port_id', '', 'updated_at');
CREATE TRIGGER track_update AFTER UPDATE ON upstreams REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION track_changes('id', 'domain_id', 'updated_at');
CREATE TRIGGER upstreams_search_delete AFTER DELETE ON upstreams REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();
CREATE TRIGGER upstreams_search_insert AFTER INSERT ON upstreams REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();
CREATE TRIGGER upstreams_search_update AFTER UPDATE ON upstreams REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION follow_origins();
CREATE TRIGGER virtual_nodes_steer AFTER UPDATE ON virtual_nodes FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER virtual_records_steer AFTER INSERT OR DELETE OR UPDATE ON virtual_records FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER wake_dns AFTER UPDATE OF list_due_at ON dns_setting_states FOR EACH STATEMENT EXECUTE FUNCTION notify_dns();
CREATE TRIGGER wake_dns AFTER INSERT OR UPDATE ON dns_settings FOR EACH STATEMENT EXECUTE FUNCTION notify_dns();
CREATE TRIGGER zone_ports_claim AFTER INSERT OR UPDATE OF port ON zone_ports FOR EACH ROW EXECUTE FUNCTION claim_zone_port();
CREATE TRIGGER zone_ports_give_up AFTER DELETE ON zone_ports FOR EACH ROW EXECUTE FUNCTION give_up_port();

-- Also when a trial replaces a trial that had the block set.
CREATE TRIGGER zone_versions_empty_block_set AFTER INSERT OR UPDATE OF state ON zone_versions FOR EACH ROW WHEN ((new.state = ANY (ARRAY['live'::text, 'trial'::text, 'withdrawn'::text]))) EXECUTE FUNCTION empty_block_set();
CREATE TRIGGER zones_forget_documents AFTER DELETE ON zones FOR EACH ROW EXECUTE FUNCTION forget_zone_documents();

-- Foreign keys

ALTER TABLE accounts ADD CONSTRAINT accounts_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE accounts ADD CONSTRAINT accounts_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE accounts ADD CONSTRAINT accounts_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE accounts ADD CONSTRAINT accounts_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE announcements ADD CONSTRAINT announcements_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE anti_headers ADD CONSTRAINT anti_headers_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE anti_headers ADD CONSTRAINT anti_headers_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE anti_referers ADD CONSTRAINT anti_referers_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE anti_referers ADD CONSTRAINT anti_referers_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE authenticator_setups ADD CONSTRAINT authenticator_setups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE authenticators ADD CONSTRAINT authenticators_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE block_holders ADD CONSTRAINT block_holders_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE block_sets ADD CONSTRAINT block_sets_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE blocks ADD CONSTRAINT blocks_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE blocks ADD CONSTRAINT blocks_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE blocks ADD CONSTRAINT blocks_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE brand_images ADD CONSTRAINT brand_images_branding_id_fkey FOREIGN KEY (branding_id) REFERENCES brandings(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE brandings ADD CONSTRAINT brandings_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cache_rules ADD CONSTRAINT cache_rules_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cache_settings ADD CONSTRAINT cache_settings_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cached_now ADD CONSTRAINT cached_now_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cached_now ADD CONSTRAINT cached_now_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE certificate_events ADD CONSTRAINT certificate_events_certificate_id_fkey FOREIGN KEY (certificate_id) REFERENCES certificates(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE certificate_orders ADD CONSTRAINT certificate_orders_certificate_id_fkey FOREIGN KEY (certificate_id) REFERENCES certificates(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE certificate_orders ADD CONSTRAINT certificate_orders_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE certificate_pairs ADD CONSTRAINT certificate_pairs_certificate_id_fkey FOREIGN KEY (certificate_id) REFERENCES certificates(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE certificates ADD CONSTRAINT certificates_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cnames ADD CONSTRAINT cnames_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE cnames ADD CONSTRAINT cnames_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES dns_settings(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE compressions ADD CONSTRAINT compressions_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dns_names ADD CONSTRAINT dns_names_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES dns_settings(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dns_plans ADD CONSTRAINT dns_plans_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dns_setting_states ADD CONSTRAINT dns_setting_states_setting_id_fkey FOREIGN KEY (setting_id) REFERENCES dns_settings(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dns_settings ADD CONSTRAINT dns_settings_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dns_targets ADD CONSTRAINT dns_targets_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE domain_modules ADD CONSTRAINT domain_modules_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE domain_modules ADD CONSTRAINT domain_modules_module_id_fkey FOREIGN KEY (module_id) REFERENCES modules(id) ON UPDATE CASCADE;
ALTER TABLE domain_modules ADD CONSTRAINT domain_modules_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE domains ADD CONSTRAINT domains_certificate_id_fkey FOREIGN KEY (certificate_id) REFERENCES certificates(id) ON UPDATE CASCADE;
ALTER TABLE domains ADD CONSTRAINT domains_origin_certificate_id_fkey FOREIGN KEY (origin_certificate_id) REFERENCES certificates(id) ON UPDATE CASCADE;
ALTER TABLE domains ADD CONSTRAINT domains_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE email_settings ADD CONSTRAINT email_settings_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE error_pages ADD CONSTRAINT error_pages_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE group_members ADD CONSTRAINT group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE group_members ADD CONSTRAINT group_members_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE group_members ADD CONSTRAINT group_members_virtual_node_id_fkey FOREIGN KEY (virtual_node_id) REFERENCES virtual_nodes(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE group_states ADD CONSTRAINT group_states_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE groups ADD CONSTRAINT groups_backup_group_id_fkey FOREIGN KEY (backup_group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE groups ADD CONSTRAINT groups_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE job_receipts ADD CONSTRAINT job_receipts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE job_receipts ADD CONSTRAINT job_receipts_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE jobs ADD CONSTRAINT jobs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE licenses ADD CONSTRAINT licenses_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE login_challenges ADD CONSTRAINT login_challenges_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE mailed_tokens ADD CONSTRAINT mailed_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE modules ADD CONSTRAINT modules_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE name_claims ADD CONSTRAINT name_claims_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE name_proof_settings ADD CONSTRAINT name_proof_settings_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE nginx_defaults ADD CONSTRAINT nginx_defaults_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE node_job_steps ADD CONSTRAINT node_job_steps_job_id_fkey FOREIGN KEY (job_id) REFERENCES node_jobs(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE node_jobs ADD CONSTRAINT node_jobs_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE node_standings ADD CONSTRAINT node_standings_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE node_states ADD CONSTRAINT node_states_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE nodes ADD CONSTRAINT nodes_move_to_zone_id_fkey FOREIGN KEY (move_to_zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE nodes ADD CONSTRAINT nodes_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE nodes ADD CONSTRAINT nodes_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE oidc_providers ADD CONSTRAINT oidc_providers_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE origin_states ADD CONSTRAINT origin_states_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE passkeys ADD CONSTRAINT passkeys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE port_rules ADD CONSTRAINT port_rules_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE port_upstreams ADD CONSTRAINT port_upstreams_port_rule_id_fkey FOREIGN KEY (port_rule_id) REFERENCES port_rules(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE port_upstreams ADD CONSTRAINT port_upstreams_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE preheat_caches ADD CONSTRAINT preheat_caches_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE preheat_caches ADD CONSTRAINT preheat_caches_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE preheat_caches ADD CONSTRAINT preheat_caches_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE preheat_copies ADD CONSTRAINT preheat_copies_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE preheat_copies ADD CONSTRAINT preheat_copies_preheat_id_fkey FOREIGN KEY (preheat_id) REFERENCES preheat_caches(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE products ADD CONSTRAINT products_backup_group_id_fkey FOREIGN KEY (backup_group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE products ADD CONSTRAINT products_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE products ADD CONSTRAINT products_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE products ADD CONSTRAINT products_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE purges ADD CONSTRAINT purges_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE purges ADD CONSTRAINT purges_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rates ADD CONSTRAINT rates_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE redirects ADD CONSTRAINT redirects_module_id_fkey FOREIGN KEY (module_id) REFERENCES modules(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE redirects ADD CONSTRAINT redirects_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE roles ADD CONSTRAINT roles_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_lines ADD CONSTRAINT rollout_lines_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_lines ADD CONSTRAINT rollout_lines_rollout_id_fkey FOREIGN KEY (rollout_id) REFERENCES rollouts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_nodes ADD CONSTRAINT rollout_nodes_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_nodes ADD CONSTRAINT rollout_nodes_rollout_id_fkey FOREIGN KEY (rollout_id) REFERENCES rollouts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_waves ADD CONSTRAINT rollout_waves_rollout_id_fkey FOREIGN KEY (rollout_id) REFERENCES rollouts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_zones ADD CONSTRAINT rollout_zones_rollout_id_fkey FOREIGN KEY (rollout_id) REFERENCES rollouts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollout_zones ADD CONSTRAINT rollout_zones_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE rollouts ADD CONSTRAINT rollouts_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT sessions_api_token_id_fkey FOREIGN KEY (api_token_id) REFERENCES api_tokens(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT sessions_proxy_id_fkey FOREIGN KEY (proxy_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT sessions_proxy_session_id_fkey FOREIGN KEY (proxy_session_id) REFERENCES sessions(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_assignments ADD CONSTRAINT site_assignments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_assignments ADD CONSTRAINT site_assignments_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_changes ADD CONSTRAINT site_changes_version_id_fkey FOREIGN KEY (version_id) REFERENCES site_versions(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_dns ADD CONSTRAINT site_dns_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_ports ADD CONSTRAINT site_ports_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_ports ADD CONSTRAINT site_ports_zone_port_id_fkey FOREIGN KEY (zone_port_id) REFERENCES zone_ports(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE site_versions ADD CONSTRAINT site_versions_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE sites ADD CONSTRAINT sites_backup_group_id_fkey FOREIGN KEY (backup_group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE sites ADD CONSTRAINT sites_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE sites ADD CONSTRAINT sites_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE sites ADD CONSTRAINT sites_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE sites ADD CONSTRAINT sites_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE sites ADD CONSTRAINT sites_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE token_keys ADD CONSTRAINT token_keys_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE upstreams ADD CONSTRAINT upstreams_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE upstreams ADD CONSTRAINT upstreams_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE virtual_nodes ADD CONSTRAINT virtual_nodes_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE virtual_records ADD CONSTRAINT virtual_records_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE virtual_records ADD CONSTRAINT virtual_records_virtual_node_id_fkey FOREIGN KEY (virtual_node_id) REFERENCES virtual_nodes(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_assignments ADD CONSTRAINT zone_assignments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_assignments ADD CONSTRAINT zone_assignments_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_key_changes ADD CONSTRAINT zone_key_changes_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_ports ADD CONSTRAINT zone_ports_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_switches ADD CONSTRAINT zone_switches_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zone_versions ADD CONSTRAINT zone_versions_zone_id_fkey FOREIGN KEY (zone_id) REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE zones ADD CONSTRAINT zones_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON UPDATE CASCADE ON DELETE RESTRICT;

RESET check_function_bodies;
