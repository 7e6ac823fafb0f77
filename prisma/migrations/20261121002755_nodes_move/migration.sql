-- AddForeignKey
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_move_to_zone_id_fkey" FOREIGN KEY ("move_to_zone_id") REFERENCES "zones"("id") ON DELETE SET NULL ON UPDATE CASCADE;
