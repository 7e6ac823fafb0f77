-- DropForeignKey
ALTER TABLE "sites" DROP CONSTRAINT "sites_owner_id_fkey";

-- DropIndex
DROP INDEX "accounts_client_id_kind_idx";

-- CreateIndex
CREATE INDEX "accounts_client_id_kind_created_at_id_idx" ON "accounts"("client_id", "kind", "created_at", "id");

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- A customer's root account is its operator's; rows from before there was anybody to write it down.
UPDATE accounts customer SET parent_id = operator.id
FROM (SELECT DISTINCT ON (client_id) id, client_id FROM accounts WHERE kind = 'client' AND is_root ORDER BY client_id, created_at) operator
WHERE customer.kind = 'user' AND customer.is_root AND customer.parent_id IS NULL AND operator.client_id = customer.client_id;

-- Whether an account may be in, and until when: it stands on its root account, and a customer on its operator. A paused
-- operator's customers go on; a locked or expired one's do not.
CREATE VIEW account_standings AS
SELECT a.id, root.id AS root_id, operator.id AS operator_id,
  a.status = 'normal' AND root.status = 'normal' AND coalesce(operator.status NOT IN ('lock', 'expired'), true) AS enabled,
  least(a.expires_at, root.expires_at, operator.expires_at) AS ends_at
FROM accounts a
  JOIN accounts root ON root.id = CASE WHEN a.is_root THEN a.id ELSE a.parent_id END
  LEFT JOIN accounts operator ON operator.id = root.parent_id AND root.kind = 'user';

-- Locked or expired, by whomever or by the clock, an account takes its sites out of service; back in, it brings them
-- back. In the transaction itself, as services do it by changed(): who locks an operator sees none of its sites.
CREATE FUNCTION publish_sites_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind = 'user' THEN
    INSERT INTO outbox (zone_id, key) SELECT zone_id, 'site/' || id FROM sites WHERE owner_id = NEW.id;
  ELSE
    INSERT INTO outbox (zone_id, key) SELECT zone_id, 'site/' || id FROM sites WHERE client_id = NEW.client_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_publish_sites AFTER UPDATE OF status ON accounts FOR EACH ROW
  WHEN (NEW.is_root AND NEW.kind <> 'admin' AND OLD.status <> NEW.status
    AND (OLD.status IN ('lock', 'expired') OR NEW.status IN ('lock', 'expired')))
  EXECUTE FUNCTION publish_sites_of_account();

-- Whoever is no longer to be in is signed out, and so are its sub-accounts and whoever acts as one of them: what comes
-- back later begins with signing in.
CREATE FUNCTION end_sessions_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET revoked_at = now()
  WHERE revoked_at IS NULL AND (
    account_id = NEW.id OR proxy_id = NEW.id
    OR (NEW.is_root AND account_id IN (SELECT id FROM accounts WHERE parent_id = NEW.id AND NOT is_root)));
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_end_sessions AFTER UPDATE OF status ON accounts FOR EACH ROW
  WHEN (OLD.status = 'normal' AND NEW.status <> 'normal') EXECUTE FUNCTION end_sessions_of_account();
