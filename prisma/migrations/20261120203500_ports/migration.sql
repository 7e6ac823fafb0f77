-- CreateTable
CREATE TABLE "site_ports" (
    "site_id" UUID NOT NULL,
    "zone_port_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "site_ports_pkey" PRIMARY KEY ("site_id","zone_port_id")
);

-- CreateTable
CREATE TABLE "port_rules" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "port" INTEGER NOT NULL,
    "protocol" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "memo" TEXT NOT NULL DEFAULT '',
    "accept_proxy" BOOLEAN NOT NULL DEFAULT false,
    "send_proxy" BOOLEAN NOT NULL DEFAULT false,
    "method" TEXT NOT NULL DEFAULT 'roundRobin',
    "max_fails" INTEGER NOT NULL DEFAULT 3,
    "fail_timeout_seconds" INTEGER NOT NULL DEFAULT 10,
    "connect_timeout_seconds" INTEGER NOT NULL DEFAULT 5,
    "idle_timeout_seconds" INTEGER NOT NULL DEFAULT 600,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "port_rules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "port_upstreams" (
    "id" UUID NOT NULL,
    "port_rule_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "weight" INTEGER NOT NULL DEFAULT 10,
    "backup" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "port_upstreams_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "port_claims" (
    "zone_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "holder" UUID NOT NULL,

    CONSTRAINT "port_claims_pkey" PRIMARY KEY ("zone_id","protocol","port")
);

-- CreateIndex
CREATE INDEX "site_ports_zone_port_id_idx" ON "site_ports"("zone_port_id");

-- CreateIndex
CREATE INDEX "port_rules_site_id_port_idx" ON "port_rules"("site_id", "port");

-- CreateIndex
CREATE UNIQUE INDEX "port_upstreams_port_rule_id_address_port_key" ON "port_upstreams"("port_rule_id", "address", "port");

-- CreateIndex
CREATE INDEX "port_claims_holder_idx" ON "port_claims"("holder");

-- AddForeignKey
ALTER TABLE "site_ports" ADD CONSTRAINT "site_ports_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "site_ports" ADD CONSTRAINT "site_ports_zone_port_id_fkey" FOREIGN KEY ("zone_port_id") REFERENCES "zone_ports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "port_rules" ADD CONSTRAINT "port_rules_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "port_upstreams" ADD CONSTRAINT "port_upstreams_port_rule_id_fkey" FOREIGN KEY ("port_rule_id") REFERENCES "port_rules"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- Until now a site answered on every port of its zone, and goes on so.
INSERT INTO site_ports (site_id, zone_port_id)
  SELECT s.id, p.id FROM sites s JOIN zone_ports p ON p.zone_id = s.zone_id WHERE p.port NOT IN (80, 443);
INSERT INTO outbox (zone_id, key) SELECT zone_id, 'site/' || id FROM sites;

-- One listener for each port of a zone: the primary key decides, whoever comes at the same moment.
INSERT INTO port_claims (zone_id, protocol, port, holder) SELECT zone_id, p, port, id FROM zone_ports, unnest('{tcp,udp}'::text[]) p;
CREATE FUNCTION claim_zone_port() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = NEW.id;
  INSERT INTO port_claims (zone_id, protocol, port, holder) VALUES (NEW.zone_id, 'tcp', NEW.port, NEW.id), (NEW.zone_id, 'udp', NEW.port, NEW.id);
  RETURN NULL;
END $$;
CREATE FUNCTION claim_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = NEW.id;
  INSERT INTO port_claims (zone_id, protocol, port, holder)
    SELECT zone_id, NEW.protocol, NEW.port, NEW.id FROM sites WHERE id = NEW.site_id;
  RETURN NULL;
END $$;
CREATE FUNCTION give_up_port() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM port_claims WHERE holder = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER zone_ports_claim AFTER INSERT OR UPDATE OF port ON zone_ports FOR EACH ROW EXECUTE FUNCTION claim_zone_port();
CREATE TRIGGER port_rules_claim AFTER INSERT OR UPDATE OF port, protocol ON port_rules FOR EACH ROW EXECUTE FUNCTION claim_forward();
CREATE TRIGGER zone_ports_give_up AFTER DELETE ON zone_ports FOR EACH ROW EXECUTE FUNCTION give_up_port();
CREATE TRIGGER port_rules_give_up AFTER DELETE ON port_rules FOR EACH ROW EXECUTE FUNCTION give_up_port();

-- A forward has a document only while its site is in service: whoever takes a site out of it or gives it to another owner
-- publishes its forwards, in the same transaction.
CREATE FUNCTION publish_ports_of_site() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT NEW.zone_id, 'port/' || id FROM port_rules WHERE site_id = NEW.id AND enabled;
  RETURN NULL;
END $$;
CREATE TRIGGER sites_publish_ports AFTER UPDATE OF status, owner_id ON sites FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.owner_id IS DISTINCT FROM NEW.owner_id) EXECUTE FUNCTION publish_ports_of_site();

CREATE OR REPLACE FUNCTION publish_sites_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH served AS (
    SELECT id, zone_id FROM sites
    WHERE CASE WHEN NEW.kind = 'user' THEN owner_id = NEW.id ELSE client_id = NEW.client_id END
  )
  INSERT INTO outbox (zone_id, key)
    SELECT zone_id, 'site/' || id FROM served
    UNION ALL
    SELECT s.zone_id, 'port/' || r.id FROM port_rules r JOIN served s ON s.id = r.site_id WHERE r.enabled;
  RETURN NULL;
END $$;

SELECT watch('site_ports'), watch('port_rules'), watch('port_upstreams');
