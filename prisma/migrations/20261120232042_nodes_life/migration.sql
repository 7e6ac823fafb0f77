-- AlterTable
ALTER TABLE "node_states" ADD COLUMN     "clock_offset_ms" INTEGER,
ADD COLUMN     "load" JSONB;

-- AlterTable
ALTER TABLE "nodes" ADD COLUMN     "bandwidth_mbps" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "drain_ends_at" TIMESTAMPTZ(3),
ADD COLUMN     "geneva_packet_size" INTEGER,
ADD COLUMN     "geneva_window_size" INTEGER,
ADD COLUMN     "log_rotate_seconds" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "monitor" JSONB,
ADD COLUMN     "move_to_zone_id" UUID,
ADD COLUMN     "parent_id" UUID,
ADD COLUMN     "port_type" TEXT NOT NULL DEFAULT 'both',
ADD COLUMN     "ssh_fingerprint" TEXT,
ADD COLUMN     "ssh_password_sealed" TEXT,
ADD COLUMN     "ssh_port" INTEGER,
ADD COLUMN     "ssh_private_key_sealed" TEXT,
ADD COLUMN     "ssh_user" TEXT;

-- CreateIndex
CREATE INDEX "nodes_parent_id_idx" ON "nodes"("parent_id");

-- AddForeignKey
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "nodes"("id") ON DELETE SET NULL ON UPDATE CASCADE;
