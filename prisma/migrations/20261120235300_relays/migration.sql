-- AlterTable
ALTER TABLE "cache_settings" ADD COLUMN     "shield" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "nodes" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'edge',
ADD COLUMN     "relay_port" INTEGER NOT NULL DEFAULT 8443;

ALTER TABLE "nodes" ADD CONSTRAINT nodes_kind CHECK (kind IN ('edge', 'relay')), ADD CONSTRAINT nodes_relay_port CHECK (relay_port BETWEEN 1 AND 65535);

-- A relay fetches nothing by itself: what edge nodes preheat comes to it.
CREATE OR REPLACE FUNCTION open_job_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind LIKE 'purge%' OR NEW.kind = 'preheat' THEN
    INSERT INTO job_receipts (job_id, node_id)
      SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
      WHERE s.id = NEW.site_id AND n.joined_at IS NOT NULL AND (NEW.kind <> 'preheat' OR n.kind = 'edge');
    PERFORM pg_notify('jobs', '');
  END IF;
  RETURN NULL;
END $$;
