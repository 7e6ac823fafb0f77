-- DropIndex
DROP INDEX "certificate_orders_ca_placed_at_idx";

-- CreateTable
CREATE TABLE "acme_placements" (
    "id" UUID NOT NULL,
    "ca" TEXT NOT NULL,
    "site_id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "acme_placements_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "acme_placements_ca_at_idx" ON "acme_placements"("ca", "at");

-- What has been placed goes on counting.
INSERT INTO "acme_placements" ("id", "ca", "site_id", "client_id", "at")
SELECT o."id", o."ca", s."id", s."client_id", o."placed_at"
FROM "certificate_orders" o JOIN "certificates" c ON c."id" = o."certificate_id" JOIN "sites" s ON s."id" = c."site_id"
WHERE o."ca" IS NOT NULL AND o."placed_at" > now() - interval '3 hours';

SELECT watch('acme_placements');
