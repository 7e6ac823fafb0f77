-- AlterTable
ALTER TABLE "node_states" ADD COLUMN     "packs" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "release" TEXT,
ADD COLUMN     "upgrade" TEXT NOT NULL DEFAULT 'notUpdated';

-- CreateTable
CREATE TABLE "rollouts" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "target" JSONB NOT NULL,
    "title" TEXT NOT NULL,
    "strategy" JSONB NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "fast" BOOLEAN NOT NULL DEFAULT false,
    "reason" TEXT NOT NULL,
    "wave" INTEGER NOT NULL DEFAULT 0,
    "fault" TEXT,
    "message" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "rollouts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rollout_zones" (
    "rollout_id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,

    CONSTRAINT "rollout_zones_pkey" PRIMARY KEY ("rollout_id","zone_id")
);

-- CreateTable
CREATE TABLE "rollout_waves" (
    "rollout_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "percent" INTEGER,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "started_at" TIMESTAMPTZ(3),
    "soak_ends_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "gates" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "rollout_waves_pkey" PRIMARY KEY ("rollout_id","position")
);

-- CreateTable
CREATE TABLE "rollout_nodes" (
    "rollout_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "wave" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "before" JSONB,
    "order_key" UUID,
    "accepted" BOOLEAN NOT NULL DEFAULT false,
    "message" TEXT,
    "baseline" JSONB,
    "gauges" JSONB,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "active" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "rollout_nodes_pkey" PRIMARY KEY ("rollout_id","node_id")
);

-- CreateTable
CREATE TABLE "rollout_lines" (
    "id" BIGSERIAL NOT NULL,
    "rollout_id" UUID NOT NULL,
    "node_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "event" TEXT NOT NULL,
    "wave" INTEGER,
    "detail" TEXT,
    "message" TEXT,
    "by" TEXT,

    CONSTRAINT "rollout_lines_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "rollouts_client_id_created_at_idx" ON "rollouts"("client_id", "created_at");

-- CreateIndex
CREATE INDEX "rollouts_state_idx" ON "rollouts"("state");

-- CreateIndex
CREATE INDEX "rollout_zones_zone_id_idx" ON "rollout_zones"("zone_id");

-- CreateIndex
CREATE INDEX "rollout_nodes_node_id_idx" ON "rollout_nodes"("node_id");

-- CreateIndex
CREATE INDEX "rollout_lines_rollout_id_id_idx" ON "rollout_lines"("rollout_id", "id");

-- CreateIndex
CREATE INDEX "rollout_lines_node_id_id_idx" ON "rollout_lines"("node_id", "id");

-- AddForeignKey
ALTER TABLE "rollouts" ADD CONSTRAINT "rollouts_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_zones" ADD CONSTRAINT "rollout_zones_rollout_id_fkey" FOREIGN KEY ("rollout_id") REFERENCES "rollouts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_zones" ADD CONSTRAINT "rollout_zones_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_waves" ADD CONSTRAINT "rollout_waves_rollout_id_fkey" FOREIGN KEY ("rollout_id") REFERENCES "rollouts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_nodes" ADD CONSTRAINT "rollout_nodes_rollout_id_fkey" FOREIGN KEY ("rollout_id") REFERENCES "rollouts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_nodes" ADD CONSTRAINT "rollout_nodes_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_lines" ADD CONSTRAINT "rollout_lines_rollout_id_fkey" FOREIGN KEY ("rollout_id") REFERENCES "rollouts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rollout_lines" ADD CONSTRAINT "rollout_lines_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A node is in one of these at a time.
CREATE UNIQUE INDEX "rollout_nodes_active_key" ON "rollout_nodes"("node_id") WHERE "active";

-- Whoever works on them is woken when there is one, when somebody wants something else of it, or when a node reported.
CREATE FUNCTION tell_rollouts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('rollouts', '');
  RETURN NULL;
END $$;
CREATE TRIGGER tell_rollouts AFTER INSERT OR UPDATE OF state, fast ON "rollouts" FOR EACH STATEMENT EXECUTE FUNCTION tell_rollouts();

SELECT watch('rollouts');
SELECT watch('rollout_zones');
SELECT watch('rollout_waves');
SELECT watch('rollout_nodes');
