-- Parts of names among a hundred thousand. A trusted extension: whoever owns the database may take it in.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- DropIndex
DROP INDEX "upstreams_site_id_address_idx";

-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "cname_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "hsts_include_subdomains" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "hsts_max_age_seconds" INTEGER,
ADD COLUMN     "hsts_preload" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "min_tls" TEXT NOT NULL DEFAULT 'TLSv1.2',
ADD COLUMN     "origin_verify" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "sites" ADD COLUMN     "cname_label" TEXT NOT NULL DEFAULT substr(md5((gen_random_uuid())::text), 1, 12);

-- AlterTable
ALTER TABLE "zones" ADD COLUMN     "force_ssl_redirect_code" SMALLINT NOT NULL DEFAULT 301;

-- CreateIndex
CREATE INDEX "domains_cname_due_at_idx" ON "domains"("cname_due_at");

-- CreateIndex
CREATE INDEX "domains_site_id_enabled_force_ssl_cname_status_cert_status_idx" ON "domains"("site_id", "enabled", "force_ssl", "cname_status", "cert_status");

-- CreateIndex
CREATE INDEX "domains_name_idx" ON "domains" USING GIN ("name" gin_trgm_ops);

-- CreateIndex
CREATE INDEX "domains_tags_idx" ON "domains" USING GIN ("tags");

-- CreateIndex
CREATE UNIQUE INDEX "sites_cname_label_key" ON "sites"("cname_label");

-- CreateIndex
CREATE INDEX "upstreams_site_id_address_domain_id_idx" ON "upstreams"("site_id", "address", "domain_id");

-- CreateIndex
CREATE INDEX "upstreams_address_idx" ON "upstreams" USING GIN ("address" gin_trgm_ops);
