-- AlterTable
ALTER TABLE "audit_rows" ADD COLUMN     "action_id" UUID;

-- What Prisma's schema cannot say.

-- Finds the calls of an action. Most calls have none.
CREATE INDEX "audit_rows_action_id_at_idx" ON "audit_rows"("action_id", "at") WHERE "action_id" IS NOT NULL;

-- The chain: a row of an action has one part more, so that nobody can add or remove the id unnoticed.
CREATE OR REPLACE FUNCTION audit_content(r audit_rows) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT convert_to(string_agg(octet_length(part) || ':' || part, '' ORDER BY n), 'UTF8')
  FROM unnest(ARRAY[
    r.chain::text, r.seq::text, r.req_id::text, (extract(epoch FROM r.at) * 1000)::bigint::text,
    coalesce(r.client_id::text, ''), coalesce(r.root_id::text, ''), coalesce(r.account_id::text, ''),
    r.account_name, r.email, coalesce(r.proxy_id::text, ''), r.proxy_name,
    r.method, r.path, r.status::text, r.address, r.changes::text
  ] || CASE WHEN r.context IS NULL THEN '{}' ELSE ARRAY[r.context::text] END
    || CASE WHEN r.action_id IS NULL THEN '{}' ELSE ARRAY[r.action_id::text] END) WITH ORDINALITY AS t (part, n)
$$;

-- As before, with the id of the action that the call belongs to.
CREATE OR REPLACE FUNCTION audit_append(call jsonb, status int) RETURNS void LANGUAGE plpgsql AS $$
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
  -- A sign-in has no session yet and only says an e-mail: its row belongs to whom it names.
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
