-- What waits is named by whoever has it tried again.
ALTER TABLE "dns_names" ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid();
CREATE UNIQUE INDEX "dns_names_id_key" ON "dns_names"("id");
