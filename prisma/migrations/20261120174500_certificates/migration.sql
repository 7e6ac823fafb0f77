-- DropForeignKey
ALTER TABLE "domains" DROP CONSTRAINT "domains_certificate_id_fkey";

-- AlterTable
ALTER TABLE "certificates" ADD COLUMN     "ask_at" TIMESTAMPTZ(3),
ADD COLUMN     "csr_key_sealed" TEXT,
ADD COLUMN     "csr_pem" TEXT,
ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "key_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "next_at" TIMESTAMPTZ(3),
ADD COLUMN     "noticed_days" INTEGER,
ADD COLUMN     "noticed_end" TIMESTAMPTZ(3),
ADD COLUMN     "status" TEXT NOT NULL DEFAULT 'none',
ADD COLUMN     "type" TEXT NOT NULL DEFAULT 'manual',
ALTER COLUMN "not_after" DROP NOT NULL;

-- CreateTable
CREATE TABLE "certificate_pairs" (
    "certificate_id" UUID NOT NULL,
    "key_type" TEXT NOT NULL,
    "chain_pem" TEXT NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "ca" TEXT,

    CONSTRAINT "certificate_pairs_pkey" PRIMARY KEY ("certificate_id","key_type")
);

-- CreateTable
CREATE TABLE "certificate_orders" (
    "id" UUID NOT NULL,
    "certificate_id" UUID NOT NULL,
    "job_id" UUID,
    "key_type" TEXT NOT NULL,
    "open_for" TEXT,
    "state" TEXT NOT NULL DEFAULT 'open',
    "ca" TEXT,
    "order_url" TEXT,
    "key_sealed" TEXT,
    "csr_pem" TEXT,
    "passed" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_until" TIMESTAMPTZ(3),
    "claimed_by" UUID,
    "placed_at" TIMESTAMPTZ(3),
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "certificate_orders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "certificate_events" (
    "id" UUID NOT NULL,
    "certificate_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "step" TEXT NOT NULL,
    "key_type" TEXT,
    "ca" TEXT,
    "detail" TEXT,

    CONSTRAINT "certificate_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "acme_accounts" (
    "id" TEXT NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "acme_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "acme_challenges" (
    "token" TEXT NOT NULL,
    "order_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "site_id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "key_authorization" TEXT NOT NULL,
    "dns_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "acme_challenges_pkey" PRIMARY KEY ("token")
);

-- CreateTable
CREATE TABLE "site_dns" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "credentials_sealed" TEXT NOT NULL,
    "domains" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "site_dns_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "certificate_orders_open_for_key" ON "certificate_orders"("open_for");

-- CreateIndex
CREATE INDEX "certificate_orders_certificate_id_created_at_idx" ON "certificate_orders"("certificate_id", "created_at");

-- CreateIndex
CREATE INDEX "certificate_orders_job_id_idx" ON "certificate_orders"("job_id");

-- CreateIndex
CREATE INDEX "certificate_orders_state_due_at_idx" ON "certificate_orders"("state", "due_at");

-- CreateIndex
CREATE INDEX "certificate_orders_ca_placed_at_idx" ON "certificate_orders"("ca", "placed_at");

-- CreateIndex
CREATE INDEX "certificate_events_certificate_id_at_idx" ON "certificate_events"("certificate_id", "at");

-- CreateIndex
CREATE INDEX "acme_challenges_order_id_idx" ON "acme_challenges"("order_id");

-- CreateIndex
CREATE INDEX "site_dns_site_id_idx" ON "site_dns"("site_id");

-- CreateIndex
CREATE INDEX "certificates_next_at_idx" ON "certificates"("next_at");

-- CreateIndex
CREATE INDEX "certificates_ask_at_idx" ON "certificates"("ask_at");

-- CreateIndex
CREATE INDEX "certificates_not_after_idx" ON "certificates"("not_after");

-- AddForeignKey
ALTER TABLE "certificate_pairs" ADD CONSTRAINT "certificate_pairs_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "certificates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "certificate_orders" ADD CONSTRAINT "certificate_orders_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "certificates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "certificate_orders" ADD CONSTRAINT "certificate_orders_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "jobs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "certificate_events" ADD CONSTRAINT "certificate_events_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "certificates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "acme_challenges" ADD CONSTRAINT "acme_challenges_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "certificate_orders"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "site_dns" ADD CONSTRAINT "site_dns_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domains" ADD CONSTRAINT "domains_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "certificates"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- So far only the demo has made certificates, by ECDSA.
INSERT INTO certificate_pairs (certificate_id, key_type, chain_pem, key_sealed, fingerprint, issuer, not_before, not_after)
  SELECT id, 'ecdsa', chain_pem, key_sealed, '', name, created_at, not_after FROM certificates;
UPDATE certificates SET status = 'success';
ALTER TABLE certificates DROP COLUMN chain_pem, DROP COLUMN key_sealed;

-- Only purges are asked of nodes; what else is a job is nobody's receipt.
CREATE OR REPLACE FUNCTION open_job_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind LIKE 'purge%' THEN
    INSERT INTO job_receipts (job_id, node_id)
      SELECT NEW.id, n.id FROM sites s JOIN nodes n ON n.zone_id = s.zone_id
      WHERE s.id = NEW.site_id AND n.joined_at IS NOT NULL;
    PERFORM pg_notify('jobs', '');
  END IF;
  RETURN NULL;
END $$;

-- Whoever issues certificates is woken by an order that is due now.
CREATE FUNCTION notify_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('certificate_orders', '');
  RETURN NULL;
END $$;
CREATE TRIGGER certificate_orders_notify AFTER INSERT ON certificate_orders FOR EACH STATEMENT EXECUTE FUNCTION notify_orders();

-- What a CA looks for is told to the nodes as soon as it is there, and taken back with it, whatever it goes with.
CREATE FUNCTION publish_acme_challenge() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  challenge acme_challenges := coalesce(NEW, OLD);
BEGIN
  IF challenge.type = 'http-01' THEN
    INSERT INTO outbox (zone_id, key) VALUES (challenge.zone_id, 'acme/' || challenge.token);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER acme_challenges_publish AFTER INSERT OR DELETE ON acme_challenges FOR EACH ROW EXECUTE FUNCTION publish_acme_challenge();

SELECT watch('certificate_pairs');
SELECT watch('certificate_orders');
SELECT watch('certificate_events');
SELECT watch('site_dns');
SELECT watch('acme_accounts');
SELECT watch('acme_challenges');
