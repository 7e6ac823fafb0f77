-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "origin_certificate_id" UUID;

-- CreateIndex
CREATE INDEX "domains_origin_certificate_id_idx" ON "domains"("origin_certificate_id");

-- AddForeignKey
ALTER TABLE "domains" ADD CONSTRAINT "domains_origin_certificate_id_fkey" FOREIGN KEY ("origin_certificate_id") REFERENCES "certificates"("id") ON DELETE NO ACTION ON UPDATE CASCADE;
