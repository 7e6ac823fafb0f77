-- AlterTable
ALTER TABLE "node_states" ADD COLUMN     "key_ids" JSONB;

-- AlterTable
ALTER TABLE "zones" ADD COLUMN     "key_name" TEXT NOT NULL DEFAULT 'first',
ADD COLUMN     "key_since" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "zone_key_changes" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "cause" TEXT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "author" TEXT NOT NULL DEFAULT '',
    "other_key" TEXT,
    "other_key_sealed" TEXT,
    "documents" INTEGER NOT NULL DEFAULT 0,
    "queued" INTEGER NOT NULL DEFAULT 0,
    "cursor" TEXT NOT NULL DEFAULT '',
    "last_outbox" BIGINT NOT NULL DEFAULT 0,
    "sealed_revision" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "zone_key_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "zone_key_changes_zone_id_created_at_idx" ON "zone_key_changes"("zone_id", "created_at");

-- AddForeignKey
ALTER TABLE "zone_key_changes" ADD CONSTRAINT "zone_key_changes_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Of a zone one waits, and one is under way.
CREATE UNIQUE INDEX "zone_key_changes_waiting_key" ON "zone_key_changes"("zone_id") WHERE "state" = 'waiting';
CREATE UNIQUE INDEX "zone_key_changes_active_key" ON "zone_key_changes"("zone_id") WHERE "state" IN ('delivering', 'sealing', 'retiring');

-- Whoever is no node of the zone any more still knows its key, however it left: it was removed, moved, set up anew, or its machine
-- was taken down. None of those who write that has to remember it.
CREATE FUNCTION ask_zone_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO zone_key_changes (id, zone_id, cause, reason) VALUES (gen_random_uuid(), OLD.zone_id, 'nodeLeft', OLD.name)
  ON CONFLICT (zone_id) WHERE state = 'waiting' DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER ask_zone_key_removed AFTER DELETE ON "nodes" FOR EACH ROW
  WHEN (OLD.public_key IS NOT NULL) EXECUTE FUNCTION ask_zone_key();
CREATE TRIGGER ask_zone_key_left AFTER UPDATE OF "public_key", "zone_id" ON "nodes" FOR EACH ROW
  WHEN (OLD.public_key IS NOT NULL AND (OLD.public_key IS DISTINCT FROM NEW.public_key OR OLD.zone_id <> NEW.zone_id))
  EXECUTE FUNCTION ask_zone_key();

SELECT watch('zone_key_changes');
