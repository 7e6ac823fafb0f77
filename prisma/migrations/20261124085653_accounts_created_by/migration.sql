-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "created_by_id" UUID;

-- CreateIndex
CREATE INDEX "accounts_created_by_id_idx" ON "accounts"("created_by_id");

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "accounts"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The best that is known of older accounts: a sub-account's root account, a root account's operator or administrator.
UPDATE "accounts" SET "created_by_id" = "parent_id" WHERE "parent_id" IS NOT NULL;
