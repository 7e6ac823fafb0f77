-- CreateTable
CREATE TABLE "error_pages" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "code" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "error_pages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "error_pages_site_id_code_key" ON "error_pages"("site_id", "code");

-- AddForeignKey
ALTER TABLE "error_pages" ADD CONSTRAINT "error_pages_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('error_pages');
