-- CreateTable
CREATE TABLE "log_exports" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "query" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'waiting',
    "progress" REAL NOT NULL DEFAULT 0,
    "rows" INTEGER NOT NULL DEFAULT 0,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "chunks" INTEGER NOT NULL DEFAULT 0,
    "reached" JSONB,
    "is_cut" BOOLEAN NOT NULL DEFAULT false,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_exports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "log_export_chunks" (
    "export_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "log_export_chunks_pkey" PRIMARY KEY ("export_id","position")
);

-- CreateTable
CREATE TABLE "log_export_days" (
    "account_id" UUID NOT NULL,
    "day" TEXT NOT NULL,
    "exports" INTEGER NOT NULL,

    CONSTRAINT "log_export_days_pkey" PRIMARY KEY ("account_id","day")
);

-- CreateTable
CREATE TABLE "saved_searches" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "filter" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "saved_searches_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "log_exports_account_id_created_at_idx" ON "log_exports"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "log_exports_status_due_at_idx" ON "log_exports"("status", "due_at");

-- CreateIndex
CREATE INDEX "log_exports_expires_at_idx" ON "log_exports"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "saved_searches_account_id_name_key" ON "saved_searches"("account_id", "name");

-- AddForeignKey
ALTER TABLE "log_exports" ADD CONSTRAINT "log_exports_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_export_chunks" ADD CONSTRAINT "log_export_chunks_export_id_fkey" FOREIGN KEY ("export_id") REFERENCES "log_exports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_export_days" ADD CONSTRAINT "log_export_days_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The chunks are compressed already.
ALTER TABLE log_export_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE FUNCTION tell_log_exports() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('log_exports', '');
  RETURN NULL;
END $$;
CREATE TRIGGER tell_log_exports AFTER INSERT OR UPDATE OF due_at ON log_exports FOR EACH STATEMENT EXECUTE FUNCTION tell_log_exports();

SELECT watch('log_exports');
SELECT watch('saved_searches');
