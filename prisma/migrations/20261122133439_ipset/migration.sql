-- CreateTable
CREATE TABLE "blocks" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "network" TEXT NOT NULL,
    "cause" TEXT NOT NULL,
    "site_id" UUID,
    "node_id" UUID,
    "author" TEXT NOT NULL DEFAULT '',
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "removed" BOOLEAN NOT NULL DEFAULT false,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "blocks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "block_sets" (
    "zone_id" UUID NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "flushed" BIGINT NOT NULL DEFAULT 0,
    "pushed" BIGINT NOT NULL DEFAULT 0,
    "refused" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "block_sets_pkey" PRIMARY KEY ("zone_id")
);

-- CreateTable
CREATE TABLE "block_holders" (
    "node_id" UUID NOT NULL,
    "revision" BIGINT NOT NULL,
    "size" INTEGER NOT NULL,
    "fault" TEXT NOT NULL DEFAULT '',
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "block_holders_pkey" PRIMARY KEY ("node_id")
);

-- CreateIndex
CREATE INDEX "blocks_zone_id_revision_idx" ON "blocks"("zone_id", "revision");

-- CreateIndex
CREATE INDEX "blocks_zone_id_until_idx" ON "blocks"("zone_id", "until");

-- CreateIndex
CREATE INDEX "blocks_until_idx" ON "blocks"("until");

-- CreateIndex
CREATE INDEX "blocks_site_id_idx" ON "blocks"("site_id");

-- CreateIndex
CREATE INDEX "blocks_node_id_idx" ON "blocks"("node_id");

-- CreateIndex
CREATE UNIQUE INDEX "blocks_zone_id_network_key" ON "blocks"("zone_id", "network");

-- AddForeignKey
ALTER TABLE "blocks" ADD CONSTRAINT "blocks_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blocks" ADD CONSTRAINT "blocks_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blocks" ADD CONSTRAINT "blocks_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "block_sets" ADD CONSTRAINT "block_sets_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "block_holders" ADD CONSTRAINT "block_holders_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- Wakes those who tell the nodes.
CREATE FUNCTION notify_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('blocks', '');
  RETURN NULL;
END $$;
CREATE TRIGGER blocks_notify AFTER INSERT OR UPDATE OF revision ON block_sets FOR EACH STATEMENT EXECUTE FUNCTION notify_blocks();

SELECT watch('blocks');
SELECT watch('block_sets');
SELECT watch('block_holders');
