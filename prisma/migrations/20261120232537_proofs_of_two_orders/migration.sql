-- An authority that is asked twice for the same names may answer with the order that it has: both are shown the same token,
-- and each takes back its own.
ALTER TABLE "acme_challenges" DROP CONSTRAINT "acme_challenges_pkey",
ADD CONSTRAINT "acme_challenges_pkey" PRIMARY KEY ("token", "order_id");

-- The key of a row is told to the audit when the table comes under its eye.
DROP TRIGGER audit_insert ON acme_challenges;
DROP TRIGGER audit_update ON acme_challenges;
DROP TRIGGER audit_delete ON acme_challenges;
SELECT watch('acme_challenges');
