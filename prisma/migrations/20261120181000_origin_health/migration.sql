-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "health_check" JSONB,
ADD COLUMN     "slow_start_seconds" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "origin_states" (
    "node_id" UUID NOT NULL,
    "upstream_id" UUID NOT NULL,
    "is_up" BOOLEAN NOT NULL,
    "reason" TEXT,
    "took_ms" INTEGER NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "origin_states_pkey" PRIMARY KEY ("upstream_id","node_id")
);

-- CreateIndex
CREATE INDEX "origin_states_node_id_idx" ON "origin_states"("node_id");

-- CreateIndex
CREATE INDEX "origin_states_seen_at_idx" ON "origin_states"("seen_at");

-- AddForeignKey
ALTER TABLE "origin_states" ADD CONSTRAINT "origin_states_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('origin_states');
