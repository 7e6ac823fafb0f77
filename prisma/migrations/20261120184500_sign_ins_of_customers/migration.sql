-- The same as before, but for the root account of a sign-in: a customer's parent is its operator, and a customer is its own
-- root account. It did not find its own sign-ins.

-- Writes a call's row: what its triggers recorded, chained to the newest row of its client. Writers of one client wait
-- for one another at the head, for no longer than this takes.
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
  -- A sign-in has no session yet and only says an e-mail: its row belongs to whom it names.
  IF r.account_id IS NULL AND r.email <> '' THEN
    SELECT a.id, a.client_id, CASE WHEN a.is_root THEN a.id ELSE a.parent_id END, a.name INTO r.account_id, r.client_id, r.root_id, r.account_name
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
