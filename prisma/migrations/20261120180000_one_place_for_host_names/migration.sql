-- A client's host names are those of its brandings; a provider's button stands on all of them.
INSERT INTO "brandings" ("id", "client_id", "host", "updated_at")
SELECT gen_random_uuid(), "client_id", "host", now() FROM "oidc_providers" WHERE "host" IS NOT NULL
ON CONFLICT ("host") DO NOTHING;

-- DropIndex
DROP INDEX "oidc_providers_host_key";

-- AlterTable
ALTER TABLE "oidc_providers" DROP COLUMN "host";
