-- AlterTable
ALTER TABLE "zones" ADD COLUMN     "settings" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "zone_versions" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "kept" JSONB NOT NULL DEFAULT '[]',
    "state" TEXT NOT NULL,
    "nodes" UUID[] DEFAULT ARRAY[]::UUID[],
    "reason" TEXT NOT NULL DEFAULT '',
    "author" TEXT NOT NULL,
    "note" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "zone_versions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "zone_switches" (
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "zone_switches_pkey" PRIMARY KEY ("zone_id","name")
);

-- CreateTable
CREATE TABLE "nginx_defaults" (
    "client_id" UUID NOT NULL,
    "part" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "nginx_defaults_pkey" PRIMARY KEY ("client_id","part")
);

-- CreateIndex
CREATE UNIQUE INDEX "zone_versions_zone_id_version_key" ON "zone_versions"("zone_id", "version");

-- Of each zone one version is live, and one at most on trial.
CREATE UNIQUE INDEX "zone_versions_standing" ON "zone_versions"("zone_id", "state") WHERE "state" IN ('live', 'trial');

-- CreateIndex
CREATE INDEX "zone_switches_until_idx" ON "zone_switches"("until");

-- AddForeignKey
ALTER TABLE "zone_versions" ADD CONSTRAINT "zone_versions_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "zone_switches" ADD CONSTRAINT "zone_switches_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "nginx_defaults" ADD CONSTRAINT "nginx_defaults_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('zone_versions');
SELECT watch('zone_switches');
SELECT watch('nginx_defaults');
