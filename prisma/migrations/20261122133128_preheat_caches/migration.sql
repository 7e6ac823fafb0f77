-- CreateTable
CREATE TABLE "preheat_caches" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "domain_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "preheat_caches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "preheat_copies" (
    "preheat_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "fault" TEXT,
    "warmed_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "preheat_copies_pkey" PRIMARY KEY ("preheat_id","node_id")
);

-- CreateIndex
CREATE INDEX "preheat_caches_site_id_idx" ON "preheat_caches"("site_id");

-- CreateIndex
CREATE INDEX "preheat_caches_domain_id_idx" ON "preheat_caches"("domain_id");

-- CreateIndex
CREATE UNIQUE INDEX "preheat_caches_zone_id_url_key" ON "preheat_caches"("zone_id", "url");

-- CreateIndex
CREATE INDEX "preheat_copies_node_id_due_at_idx" ON "preheat_copies"("node_id", "due_at");

-- AddForeignKey
ALTER TABLE "preheat_caches" ADD CONSTRAINT "preheat_caches_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "preheat_caches" ADD CONSTRAINT "preheat_caches_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "preheat_caches" ADD CONSTRAINT "preheat_caches_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "preheat_copies" ADD CONSTRAINT "preheat_copies_preheat_id_fkey" FOREIGN KEY ("preheat_id") REFERENCES "preheat_caches"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "preheat_copies" ADD CONSTRAINT "preheat_copies_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Each edge node of the zone has a row of each URL, whoever of the two comes first.
CREATE FUNCTION copies_of_preheats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO preheat_copies (preheat_id, node_id)
    SELECT p.id, n.id FROM new_rows p JOIN nodes n ON n.zone_id = p.zone_id AND n.joined_at IS NOT NULL AND n.kind = 'edge';
  RETURN NULL;
END $$;
CREATE TRIGGER preheat_caches_copies AFTER INSERT ON preheat_caches REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION copies_of_preheats();

-- One that joins anew may have another disk; one that leaves, or becomes a relay, has nothing to keep.
CREATE FUNCTION copies_of_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM preheat_copies c USING preheat_caches p
    WHERE c.node_id = NEW.id AND p.id = c.preheat_id AND (p.zone_id <> NEW.zone_id OR NEW.joined_at IS NULL OR NEW.kind <> 'edge');
  INSERT INTO preheat_copies (preheat_id, node_id)
    SELECT p.id, NEW.id FROM preheat_caches p WHERE p.zone_id = NEW.zone_id AND NEW.joined_at IS NOT NULL AND NEW.kind = 'edge'
    ON CONFLICT (preheat_id, node_id) DO UPDATE SET state = 'waiting', fault = NULL, tries = 0, due_at = now();
  RETURN NULL;
END $$;
CREATE TRIGGER nodes_join_preheats AFTER INSERT ON nodes FOR EACH ROW WHEN (NEW.joined_at IS NOT NULL) EXECUTE FUNCTION copies_of_node();
CREATE TRIGGER nodes_change_preheats AFTER UPDATE ON nodes FOR EACH ROW
  WHEN ((OLD.zone_id, OLD.kind, OLD.joined_at) IS DISTINCT FROM (NEW.zone_id, NEW.kind, NEW.joined_at))
  EXECUTE FUNCTION copies_of_node();

-- What is purged is fetched again: of URLs these, whatever their query, else all that the site has. Nodes are asked once they have purged.
CREATE FUNCTION purge_preheats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE preheat_copies c SET state = 'waiting', fault = NULL, tries = 0, due_at = now()
    FROM preheat_caches p WHERE p.site_id = NEW.site_id AND c.preheat_id = p.id
      AND (NEW.kind <> 'purgeURLs' OR split_part(p.url, '?', 1) IN (SELECT split_part(u, '?', 1) FROM unnest(NEW.urls) u));
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_purge_preheats AFTER INSERT ON jobs FOR EACH ROW WHEN (NEW.kind LIKE 'purge%') EXECUTE FUNCTION purge_preheats();

-- What nodes have of it is theirs to say, and no call's.
SELECT watch('preheat_caches');
