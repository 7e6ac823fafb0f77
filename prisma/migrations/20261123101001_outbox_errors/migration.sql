-- AlterTable
ALTER TABLE "outbox" ADD COLUMN     "error" TEXT,
ADD COLUMN     "failed_at" TIMESTAMPTZ(3);

-- DropIndex
DROP INDEX "outbox_zone_id_idx";

-- CreateIndex
CREATE INDEX "outbox_zone_id_failed_at_idx" ON "outbox"("zone_id", "failed_at");
