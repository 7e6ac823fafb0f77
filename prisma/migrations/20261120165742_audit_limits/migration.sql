-- DropIndex
DROP INDEX "audit_rows_account_id_at_idx";

-- DropIndex
DROP INDEX "audit_rows_client_id_at_idx";

-- AlterTable
ALTER TABLE "audit_rows" ADD COLUMN     "account_name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "chain" UUID,
ADD COLUMN     "changes" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "hash" BYTEA,
ADD COLUMN     "proxy_id" UUID,
ADD COLUMN     "proxy_name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "root_id" UUID,
ADD COLUMN     "seq" BIGINT;

-- CreateTable
CREATE TABLE "audit_heads" (
    "chain" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_heads_pkey" PRIMARY KEY ("chain")
);

-- CreateTable
CREATE TABLE "audit_changes" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "req_id" UUID NOT NULL,
    "call" JSONB NOT NULL,
    "entity" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "rows" JSONB NOT NULL,

    CONSTRAINT "audit_changes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rate_counts" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_counts_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "idempotent_calls" (
    "account_id" UUID NOT NULL,
    "key_hash" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "req_id" UUID NOT NULL,
    "claimed_until" TIMESTAMPTZ(3) NOT NULL,
    "status" SMALLINT,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotent_calls_pkey" PRIMARY KEY ("account_id","key_hash")
);

-- CreateIndex
CREATE INDEX "audit_changes_req_id_idx" ON "audit_changes"("req_id");

-- CreateIndex
CREATE INDEX "rate_counts_expire_idx" ON "rate_counts"("expire");

-- CreateIndex
CREATE INDEX "idempotent_calls_created_at_idx" ON "idempotent_calls"("created_at");

-- CreateIndex
CREATE INDEX "audit_rows_client_id_at_req_id_idx" ON "audit_rows"("client_id", "at", "req_id");

-- CreateIndex
CREATE INDEX "audit_rows_root_id_at_req_id_idx" ON "audit_rows"("root_id", "at", "req_id");

-- CreateIndex
CREATE INDEX "audit_rows_at_req_id_idx" ON "audit_rows"("at", "req_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_rows_chain_seq_key" ON "audit_rows"("chain", "seq");

-- What Prisma's schema cannot say.

-- Counts of calls may be lost in a crash, and shall cost little.
ALTER TABLE rate_counts SET UNLOGGED;

-- What a call is stands in the session's settings (core/call.ts): edgeloom.call, as JSON, while a call that may write
-- has the connection; edgeloom.match, while it asks for an object as it was (If-Match).

-- Columns whose values the audit does not show: masked unless they are known to be harmless, so that a new secret is
-- masked by itself.
CREATE FUNCTION audit_masks(entity text, field text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (field ~ '(password|hash|key|token|secret|sealed|credential|code|successor|challenge|proof)'
      AND NOT entity || '.' || field = ANY ('{domains.hash_type,jobs.doc_keys,nodes.public_key,revoked_keys.public_key,sessions.api_token_id,brand_images.hash}'))
    OR entity || '.' || field = ANY ('{recovery_codes.id,authenticator_setups.id}')
$$;

-- A row as the audit shows it: secrets masked, long values cut, what is not set left out.
CREATE FUNCTION audit_shown(entity text, content jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(key, CASE
      WHEN value = 'null' THEN value
      WHEN audit_masks(entity, key) THEN '"•••"'
      WHEN length(value::text) > 2000 THEN to_jsonb(left(value::text, 2000) || '…')
      ELSE value END), '{}')
  FROM jsonb_each(content) WHERE key <> 'updated_at'
$$;

-- What names a row: its primary key, and its name or e-mail where it has one.
CREATE FUNCTION audit_named(entity text, content jsonb, keys text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT audit_shown(entity, coalesce(jsonb_object_agg(key, value), '{}'))
  FROM jsonb_each(content) WHERE key = ANY (keys || '{name,email}')
$$;

-- One place that sees every change of every call, whoever makes it: a row for each statement, with what was before and
-- after of the first hundred rows. Its arguments are the primary key.
CREATE FUNCTION audit_capture() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  call jsonb := current_setting('edgeloom.call');
  keys text[] := TG_ARGV;
  total int;
  found jsonb;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT count(*) INTO total FROM new_rows;
    SELECT jsonb_agg(jsonb_build_object('key', audit_named(TG_TABLE_NAME, j, keys), 'after', audit_shown(TG_TABLE_NAME, jsonb_strip_nulls(j))))
      INTO found FROM (SELECT to_jsonb(n) AS j FROM new_rows n LIMIT 100) t;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO total FROM old_rows;
    SELECT jsonb_agg(jsonb_build_object('key', audit_named(TG_TABLE_NAME, j, keys), 'before', audit_shown(TG_TABLE_NAME, jsonb_strip_nulls(j))))
      INTO found FROM (SELECT to_jsonb(o) AS j FROM old_rows o LIMIT 100) t;
  ELSE
    WITH pairs AS (
      SELECT o.j AS old_row, n.j AS new_row
      FROM (SELECT to_jsonb(o) AS j FROM old_rows o) o
      JOIN (SELECT to_jsonb(n) AS j FROM new_rows n) n
        ON (SELECT jsonb_object_agg(k, o.j->k) FROM unnest(keys) k) = (SELECT jsonb_object_agg(k, n.j->k) FROM unnest(keys) k)
      WHERE o.j - 'updated_at' <> n.j - 'updated_at'
    )
    SELECT (SELECT count(*) FROM pairs), (
      SELECT jsonb_agg(jsonb_build_object('key', audit_named(TG_TABLE_NAME, old_row, keys),
        'before', audit_shown(TG_TABLE_NAME, (SELECT jsonb_object_agg(key, value) FROM jsonb_each(old_row) WHERE new_row->key IS DISTINCT FROM value)),
        'after', audit_shown(TG_TABLE_NAME, (SELECT jsonb_object_agg(key, value) FROM jsonb_each(new_row) WHERE old_row->key IS DISTINCT FROM value))))
      FROM (SELECT * FROM pairs LIMIT 100) t)
      INTO total, found;
  END IF;
  IF total > 0 THEN
    INSERT INTO audit_changes (req_id, call, entity, action, count, rows)
      VALUES ((call->>'reqID')::uuid, call, TG_TABLE_NAME, lower(TG_OP), total, found);
  END IF;
  RETURN NULL;
END $$;

-- An object's ETag is its updated_at: it grows with each change, and a change that asks for the object as it was is
-- refused when it is not that any more. Its argument is the primary key.
CREATE FUNCTION stamp_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wish text := current_setting('edgeloom.match', true);
BEGIN
  IF wish <> '' AND wish::jsonb->'ids' ? (to_jsonb(OLD)->>TG_ARGV[0]) THEN
    IF NOT wish::jsonb->'tags' ? to_char(OLD.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') THEN
      RAISE EXCEPTION '% % was changed meanwhile', TG_TABLE_NAME, to_jsonb(OLD)->>TG_ARGV[0] USING ERRCODE = 'EL412';
    END IF;
    -- The call's own first change is none of somebody else's.
    PERFORM set_config('edgeloom.match', '', true);
  END IF;
  IF NEW.updated_at <= OLD.updated_at THEN
    NEW.updated_at := OLD.updated_at + interval '1 millisecond';
  END IF;
  RETURN NEW;
END $$;

-- Every table that a call may write is watched: a migration that makes one says SELECT watch('its_name'). A removal's
-- cascades are part of the removal, and not recorded row by row.
CREATE FUNCTION watch(target regclass) RETURNS void LANGUAGE plpgsql AS $$
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
END $$;

-- Not watched: the audit itself, counts, what only carries a sign-in from one step to the next, and what the publisher
-- and the nodes do with a change after it was made.
SELECT watch(format('%I', tablename)::regclass) FROM pg_tables WHERE schemaname = current_schema() AND tablename <> ALL ('{
  _prisma_migrations,audit_rows,audit_heads,audit_changes,rate_counts,idempotent_calls,
  login_failures,login_challenges,passkey_challenges,oidc_sign_ins,
  outbox,outgoing_mails,edge_documents,node_states,job_receipts}');

-- The chain. Each field with its length in front, so that no content can pass for another.
CREATE FUNCTION audit_content(r audit_rows) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT convert_to(string_agg(octet_length(part) || ':' || part, '' ORDER BY n), 'UTF8')
  FROM unnest(ARRAY[
    r.chain::text, r.seq::text, r.req_id::text, (extract(epoch FROM r.at) * 1000)::bigint::text,
    coalesce(r.client_id::text, ''), coalesce(r.root_id::text, ''), coalesce(r.account_id::text, ''),
    r.account_name, r.email, coalesce(r.proxy_id::text, ''), r.proxy_name,
    r.method, r.path, r.status::text, r.address, r.changes::text
  ]) WITH ORDINALITY AS t (part, n)
$$;

-- Writes a call's row: what its triggers recorded, chained to the newest row of its client. Writers of one client wait
-- for one another at the head, for no longer than this takes.
CREATE FUNCTION audit_append(call jsonb, status int) RETURNS void LANGUAGE plpgsql AS $$
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
  -- A sign-in has no session yet and only says an e-mail: its row belongs to whom it names.
  IF r.account_id IS NULL AND r.email <> '' THEN
    SELECT a.id, a.client_id, coalesce(a.parent_id, a.id), a.name INTO r.account_id, r.client_id, r.root_id, r.account_name
      FROM accounts a WHERE a.kind = (call->>'kind')::account_kind AND a.email = r.email;
    r.account_name := coalesce(r.account_name, '');
  END IF;
  WITH taken AS (DELETE FROM audit_changes WHERE req_id = r.req_id RETURNING *)
  SELECT coalesce(jsonb_agg(jsonb_build_object('entity', entity, 'action', action, 'count', count, 'rows', rows) ORDER BY id), '[]')
    INTO r.changes FROM (SELECT * FROM taken ORDER BY id LIMIT 100) t;
  -- What was changed after the answer had left gets a row of its own.
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

-- Rows from before there was a chain.
DO $$
DECLARE r audit_rows;
BEGIN
  FOR r IN SELECT * FROM audit_rows ORDER BY at, req_id LOOP
    r.chain := coalesce(r.client_id, '00000000-0000-0000-0000-000000000000');
    r.root_id := (SELECT coalesce(parent_id, id) FROM accounts WHERE id = r.account_id);
    INSERT INTO audit_heads (chain, seq, hash) VALUES (r.chain, 0, '') ON CONFLICT DO NOTHING;
    SELECT h.seq + 1 INTO r.seq FROM audit_heads h WHERE h.chain = r.chain;
    SELECT sha256(h.hash || audit_content(r)) INTO r.hash FROM audit_heads h WHERE h.chain = r.chain;
    UPDATE audit_rows SET chain = r.chain, root_id = r.root_id, seq = r.seq, hash = r.hash WHERE req_id = r.req_id;
    UPDATE audit_heads SET seq = r.seq, hash = r.hash WHERE chain = r.chain;
  END LOOP;
END $$;
ALTER TABLE audit_rows ALTER chain SET NOT NULL, ALTER seq SET NOT NULL, ALTER hash SET NOT NULL;

CREATE FUNCTION audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit rows are written once';
END $$;
CREATE TRIGGER audit_rows_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_keep();
CREATE TRIGGER audit_heads_keep BEFORE DELETE OR TRUNCATE ON audit_heads FOR EACH STATEMENT EXECUTE FUNCTION audit_keep();
