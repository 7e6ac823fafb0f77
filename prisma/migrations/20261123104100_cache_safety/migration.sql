-- AlterTable
ALTER TABLE "cache_rules" ADD COLUMN     "override_origin" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "cache_settings" ADD COLUMN     "check_content_type" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "honour_visitors" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "pass_headers" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "set_cookie" TEXT NOT NULL DEFAULT 'refuse',
ADD COLUMN     "store_post" BOOLEAN NOT NULL DEFAULT false;

-- What Prisma's schema cannot say.

-- A rule of no seconds never stored anything, whatever it said of the origin. Now it would store as the origin says.
INSERT INTO outbox (zone_id, key)
SELECT DISTINCT s.zone_id, 'site/' || s.id FROM sites s JOIN cache_rules r ON r.site_id = s.id
WHERE r.cache_time = 0 AND r.honour_origin;
UPDATE cache_rules SET honour_origin = false WHERE cache_time = 0 AND honour_origin;
