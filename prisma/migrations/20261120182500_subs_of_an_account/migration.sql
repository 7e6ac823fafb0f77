-- DropIndex
DROP INDEX "accounts_parent_id_idx";

-- CreateIndex
CREATE INDEX "accounts_parent_id_is_root_idx" ON "accounts"("parent_id", "is_root");
