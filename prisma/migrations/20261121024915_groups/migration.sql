-- AlterTable
ALTER TABLE "products" ADD COLUMN     "backup_group_id" UUID,
ADD COLUMN     "group_id" UUID;

-- AlterTable
ALTER TABLE "sites" ADD COLUMN     "backup_group_id" UUID,
ADD COLUMN     "group_id" UUID;

-- CreateTable
CREATE TABLE "groups" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 1,
    "backup_group_id" UUID,
    "forced_at" TIMESTAMPTZ(3),
    "lines" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "dns_label" TEXT NOT NULL DEFAULT ('g-'::text || substr(md5((gen_random_uuid())::text), 1, 10)),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "groups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "group_members" (
    "id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "line" TEXT NOT NULL,
    "node_id" UUID,
    "virtual_node_id" UUID,
    "weight" INTEGER NOT NULL DEFAULT 50,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_members_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "virtual_nodes" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "memo" TEXT NOT NULL DEFAULT '',
    "switching_interval" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "virtual_nodes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "virtual_records" (
    "id" UUID NOT NULL,
    "virtual_node_id" UUID NOT NULL,
    "cname" TEXT,
    "ip" TEXT,
    "node_id" UUID,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "virtual_records_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "node_standings" (
    "node_id" UUID NOT NULL,
    "is_in" BOOLEAN NOT NULL,
    "reason" TEXT,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "well_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "is_busy" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "node_standings_pkey" PRIMARY KEY ("node_id")
);

-- CreateTable
CREATE TABLE "group_states" (
    "group_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "answered" JSONB NOT NULL,

    CONSTRAINT "group_states_pkey" PRIMARY KEY ("group_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "groups_dns_label_key" ON "groups"("dns_label");

-- CreateIndex
CREATE INDEX "groups_backup_group_id_idx" ON "groups"("backup_group_id");

-- CreateIndex
CREATE UNIQUE INDEX "groups_zone_id_name_key" ON "groups"("zone_id", "name");

-- CreateIndex
CREATE INDEX "group_members_node_id_idx" ON "group_members"("node_id");

-- CreateIndex
CREATE INDEX "group_members_virtual_node_id_idx" ON "group_members"("virtual_node_id");

-- CreateIndex
CREATE UNIQUE INDEX "group_members_group_id_line_node_id_key" ON "group_members"("group_id", "line", "node_id");

-- CreateIndex
CREATE UNIQUE INDEX "group_members_group_id_line_virtual_node_id_key" ON "group_members"("group_id", "line", "virtual_node_id");

-- CreateIndex
CREATE UNIQUE INDEX "virtual_nodes_zone_id_name_key" ON "virtual_nodes"("zone_id", "name");

-- CreateIndex
CREATE INDEX "virtual_records_node_id_idx" ON "virtual_records"("node_id");

-- CreateIndex
CREATE UNIQUE INDEX "virtual_records_virtual_node_id_cname_key" ON "virtual_records"("virtual_node_id", "cname");

-- CreateIndex
CREATE UNIQUE INDEX "virtual_records_virtual_node_id_ip_key" ON "virtual_records"("virtual_node_id", "ip");

-- CreateIndex
CREATE UNIQUE INDEX "virtual_records_virtual_node_id_node_id_key" ON "virtual_records"("virtual_node_id", "node_id");

-- CreateIndex
CREATE INDEX "products_group_id_idx" ON "products"("group_id");

-- CreateIndex
CREATE INDEX "products_backup_group_id_idx" ON "products"("backup_group_id");

-- CreateIndex
CREATE INDEX "sites_group_id_idx" ON "sites"("group_id");

-- CreateIndex
CREATE INDEX "sites_backup_group_id_idx" ON "sites"("backup_group_id");

-- AddForeignKey
ALTER TABLE "groups" ADD CONSTRAINT "groups_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "groups" ADD CONSTRAINT "groups_backup_group_id_fkey" FOREIGN KEY ("backup_group_id") REFERENCES "groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_virtual_node_id_fkey" FOREIGN KEY ("virtual_node_id") REFERENCES "virtual_nodes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "virtual_nodes" ADD CONSTRAINT "virtual_nodes_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "virtual_records" ADD CONSTRAINT "virtual_records_virtual_node_id_fkey" FOREIGN KEY ("virtual_node_id") REFERENCES "virtual_nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "virtual_records" ADD CONSTRAINT "virtual_records_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node_standings" ADD CONSTRAINT "node_standings_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_states" ADD CONSTRAINT "group_states_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "products" ADD CONSTRAINT "products_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "products" ADD CONSTRAINT "products_backup_group_id_fkey" FOREIGN KEY ("backup_group_id") REFERENCES "groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_backup_group_id_fkey" FOREIGN KEY ("backup_group_id") REFERENCES "groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE group_members ADD CONSTRAINT group_members_one CHECK (num_nonnulls(node_id, virtual_node_id) = 1 AND weight BETWEEN 0 AND 100);
ALTER TABLE virtual_records ADD CONSTRAINT virtual_records_one CHECK (num_nonnulls(cname, ip, node_id) = 1);

-- Whatever decides about answers wakes those who steer, once for each transaction.
CREATE FUNCTION notify_steering() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('steering', '');
  RETURN NULL;
END $$;
CREATE TRIGGER groups_steer AFTER INSERT OR UPDATE OR DELETE ON groups FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER group_members_steer AFTER INSERT OR UPDATE OR DELETE ON group_members FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER virtual_nodes_steer AFTER UPDATE ON virtual_nodes FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER virtual_records_steer AFTER INSERT OR UPDATE OR DELETE ON virtual_records FOR EACH STATEMENT EXECUTE FUNCTION notify_steering();
CREATE TRIGGER nodes_steer AFTER UPDATE ON nodes FOR EACH ROW
  WHEN ((OLD.enabled, OLD.ip, OLD.role, OLD.kind, OLD.joined_at, OLD.parent_id, OLD.zone_id, OLD.bandwidth_mbps, OLD.monitor)
    IS DISTINCT FROM (NEW.enabled, NEW.ip, NEW.role, NEW.kind, NEW.joined_at, NEW.parent_id, NEW.zone_id, NEW.bandwidth_mbps, NEW.monitor))
  EXECUTE FUNCTION notify_steering();
-- Nodes speak often: only a beginning, an end and what nginx does is news.
CREATE TRIGGER node_states_steer AFTER UPDATE ON node_states FOR EACH ROW
  WHEN ((OLD.connected_at IS NULL, OLD.nginx) IS DISTINCT FROM (NEW.connected_at IS NULL, NEW.nginx))
  EXECUTE FUNCTION notify_steering();

-- What the engine writes is no call's.
SELECT watch('groups'), watch('group_members'), watch('virtual_nodes'), watch('virtual_records');
