-- CreateTable
CREATE TABLE "rates" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "value" TEXT[],
    "rate" INTEGER NOT NULL,
    "after" INTEGER NOT NULL,
    "priority" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rates_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "rates_site_id_priority_id_idx" ON "rates"("site_id", "priority", "id");

-- AddForeignKey
ALTER TABLE "rates" ADD CONSTRAINT "rates_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('rates');
