-- CreateIndex
CREATE INDEX "domain_modules_site_id_idx" ON "domain_modules"("site_id");

-- CreateIndex
CREATE INDEX "port_upstreams_site_id_idx" ON "port_upstreams"("site_id");

-- AddForeignKey
ALTER TABLE "domain_modules" ADD CONSTRAINT "domain_modules_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "port_upstreams" ADD CONSTRAINT "port_upstreams_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;
