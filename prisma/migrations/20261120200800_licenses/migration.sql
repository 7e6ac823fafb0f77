-- AlterTable
ALTER TABLE "products" ADD COLUMN     "auto_certificate_limit" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "port_limit" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "licenses" (
    "client_id" UUID NOT NULL,
    "site_limit" INTEGER NOT NULL DEFAULT 0,
    "node_limit" INTEGER NOT NULL DEFAULT 0,
    "zone_limit" INTEGER NOT NULL DEFAULT 0,
    "domain_limit" INTEGER NOT NULL DEFAULT 0,
    "auto_certificate_limit" INTEGER NOT NULL DEFAULT 0,
    "layer4" BOOLEAN NOT NULL DEFAULT false,
    "ends_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "licenses_pkey" PRIMARY KEY ("client_id")
);

-- AddForeignKey
ALTER TABLE "licenses" ADD CONSTRAINT "licenses_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('licenses');
