-- AlterTable
ALTER TABLE "cache_rules" ADD COLUMN     "browser_time" INTEGER,
ADD COLUMN     "cookie_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "cookies" TEXT NOT NULL DEFAULT 'none',
ADD COLUMN     "max_time" INTEGER,
ADD COLUMN     "min_time" INTEGER,
ADD COLUMN     "pass_cookies" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "slices" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "stale_if_error" INTEGER,
ADD COLUMN     "stale_while_revalidate" INTEGER,
ADD COLUMN     "strip_cookies" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "purges" ADD COLUMN     "soft" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "jobs" ADD COLUMN     "soft" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "cache_settings" (
    "site_id" UUID NOT NULL,
    "heuristics" BOOLEAN NOT NULL DEFAULT false,
    "stale_if_error" INTEGER NOT NULL DEFAULT 3600,

    CONSTRAINT "cache_settings_pkey" PRIMARY KEY ("site_id")
);

-- CreateTable
CREATE TABLE "compressions" (
    "site_id" UUID NOT NULL,
    "gzip" BOOLEAN NOT NULL,
    "brotli" BOOLEAN NOT NULL,
    "types" TEXT[],
    "min_bytes" INTEGER NOT NULL,

    CONSTRAINT "compressions_pkey" PRIMARY KEY ("site_id")
);

-- CreateTable
CREATE TABLE "cached_now" (
    "node_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "objects" INTEGER NOT NULL,
    "bytes" BIGINT NOT NULL,
    "measured_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cached_now_pkey" PRIMARY KEY ("node_id","site_id")
);

-- CreateIndex
CREATE INDEX "cached_now_site_id_idx" ON "cached_now"("site_id");

-- AddForeignKey
ALTER TABLE "cache_settings" ADD CONSTRAINT "cache_settings_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "compressions" ADD CONSTRAINT "compressions_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cached_now" ADD CONSTRAINT "cached_now_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cached_now" ADD CONSTRAINT "cached_now_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Preheating is asked of nodes as purges are.
CREATE OR REPLACE FUNCTION open_job_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind LIKE 'purge%' OR NEW.kind = 'preheat' THEN
    INSERT INTO job_receipts (job_id, node_id)
      SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
      WHERE s.id = NEW.site_id AND n.joined_at IS NOT NULL;
    PERFORM pg_notify('jobs', '');
  END IF;
  RETURN NULL;
END $$;

SELECT watch('cache_settings');
SELECT watch('compressions');
