-- CreateTable
CREATE TABLE "log_destinations" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "settings" JSONB NOT NULL,
    "secrets_sealed" TEXT,
    "reached" BIGINT NOT NULL DEFAULT 0,
    "reached_lines" BIGINT NOT NULL DEFAULT 0,
    "sent_lines" BIGINT NOT NULL DEFAULT 0,
    "dropped_lines" BIGINT NOT NULL DEFAULT 0,
    "succeeded_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "last_error" TEXT NOT NULL DEFAULT '',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_destinations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "log_spool_heads" (
    "site_id" UUID NOT NULL,
    "number" BIGINT NOT NULL DEFAULT 0,
    "lines" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "log_spool_heads_pkey" PRIMARY KEY ("site_id")
);

-- CreateTable
CREATE TABLE "log_spool" (
    "site_id" UUID NOT NULL,
    "number" BIGINT NOT NULL,
    "stored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lines" INTEGER NOT NULL,
    "sum_lines" BIGINT NOT NULL,
    "size" INTEGER NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "log_spool_pkey" PRIMARY KEY ("site_id","number")
);

-- CreateIndex
CREATE INDEX "log_destinations_site_id_idx" ON "log_destinations"("site_id");

-- CreateIndex
CREATE INDEX "log_destinations_due_at_idx" ON "log_destinations"("due_at");

-- CreateIndex
CREATE INDEX "log_spool_stored_at_idx" ON "log_spool"("stored_at");

-- AddForeignKey
ALTER TABLE "log_destinations" ADD CONSTRAINT "log_destinations_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_spool_heads" ADD CONSTRAINT "log_spool_heads_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_spool" ADD CONSTRAINT "log_spool_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The batches are compressed already.
ALTER TABLE log_spool ALTER COLUMN data SET STORAGE EXTERNAL;

SELECT watch('log_destinations');
