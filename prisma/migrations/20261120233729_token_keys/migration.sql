-- CreateTable
CREATE TABLE "token_keys" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "token_keys_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "token_keys_site_id_idx" ON "token_keys"("site_id");

-- AddForeignKey
ALTER TABLE "token_keys" ADD CONSTRAINT "token_keys_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('token_keys');
