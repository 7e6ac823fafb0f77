-- CreateEnum
CREATE TYPE "account_kind" AS ENUM ('user', 'client', 'admin');

-- CreateEnum
CREATE TYPE "account_status" AS ENUM ('normal', 'pause', 'lock', 'expired');

-- CreateEnum
CREATE TYPE "site_status" AS ENUM ('normal', 'pause', 'limit', 'lock', 'expired');

-- CreateTable
CREATE TABLE "clients" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "clients_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "kind" "account_kind" NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT,
    "status" "account_status" NOT NULL DEFAULT 'normal',
    "is_root" BOOLEAN NOT NULL DEFAULT false,
    "client_id" UUID,
    "parent_id" UUID,
    "login2fa_type" SMALLINT NOT NULL DEFAULT 0,
    "language" TEXT NOT NULL DEFAULT 'zh-TW',
    "dns_type" TEXT,
    "permissions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "previous_hash" TEXT,
    "successor" TEXT,
    "rotated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "address" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "login_challenges" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "key_hash" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "login_challenges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "login_failures" (
    "id" TEXT NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,
    "first_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "locked_until" TIMESTAMPTZ(3),

    CONSTRAINT "login_failures_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_rows" (
    "req_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "client_id" UUID,
    "account_id" UUID,
    "email" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "address" TEXT NOT NULL,

    CONSTRAINT "audit_rows_pkey" PRIMARY KEY ("req_id")
);

-- CreateTable
CREATE TABLE "cache_rules" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "value" TEXT[],
    "cache_time" INTEGER NOT NULL,
    "honour_origin" BOOLEAN NOT NULL DEFAULT false,
    "query" TEXT NOT NULL DEFAULT 'all',
    "query_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "priority" INTEGER NOT NULL DEFAULT 100,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cache_rules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "purges" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "type" SMALLINT NOT NULL,
    "urls" TEXT[],
    "job_id" UUID,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "purges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "domains" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "enabled_name" TEXT,
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "cname_status" TEXT NOT NULL DEFAULT 'pendingCheck',
    "cert_status" TEXT NOT NULL DEFAULT 'none',
    "force_ssl" BOOLEAN NOT NULL DEFAULT false,
    "scheme" TEXT NOT NULL DEFAULT 'http',
    "port_map" JSONB NOT NULL DEFAULT '[]',
    "hash_type" TEXT NOT NULL DEFAULT 'roundRobin',
    "host_replace" TEXT,
    "sni" TEXT,
    "max_fails" INTEGER NOT NULL DEFAULT 3,
    "fail_timeout_seconds" INTEGER NOT NULL DEFAULT 10,
    "connect_timeout_seconds" INTEGER NOT NULL DEFAULT 5,
    "read_timeout_seconds" INTEGER NOT NULL DEFAULT 60,
    "cache_version" INTEGER NOT NULL DEFAULT 0,
    "certificate_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "domains_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstreams" (
    "id" UUID NOT NULL,
    "domain_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "weight" INTEGER NOT NULL DEFAULT 10,
    "backup" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "upstreams_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "certificates" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "names" TEXT[],
    "chain_pem" TEXT NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "certificates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "zone_id" UUID NOT NULL,
    "key" TEXT NOT NULL,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "edge_documents" (
    "zone_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "body" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "edge_documents_pkey" PRIMARY KEY ("zone_id","key")
);

-- CreateTable
CREATE TABLE "jobs" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'processing',
    "title" TEXT NOT NULL,
    "urls" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "doc_keys" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "revision" INTEGER,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job_receipts" (
    "job_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "took_ms" DOUBLE PRECISION,
    "objects" INTEGER,
    "error" TEXT,
    "answered_at" TIMESTAMPTZ(3),
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "job_receipts_pkey" PRIMARY KEY ("job_id","node_id")
);

-- CreateTable
CREATE TABLE "nodes" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "ip" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'main',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "memo" TEXT NOT NULL DEFAULT '',
    "cache_max_bytes" BIGINT NOT NULL DEFAULT 0,
    "join_hash" TEXT,
    "join_ends_at" TIMESTAMPTZ(3),
    "public_key" TEXT,
    "joined_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "nodes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "node_states" (
    "node_id" UUID NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "digest" TEXT,
    "digest_agrees" BOOLEAN,
    "synced_at" TIMESTAMPTZ(3),
    "last_seen_at" TIMESTAMPTZ(3),
    "connected_at" TIMESTAMPTZ(3),
    "disconnected_at" TIMESTAMPTZ(3),
    "version" TEXT NOT NULL DEFAULT '',
    "nginx" TEXT,
    "error" TEXT,
    "rejected" JSONB NOT NULL DEFAULT '[]',
    "capabilities" TEXT[] DEFAULT ARRAY[]::TEXT[],

    CONSTRAINT "node_states_pkey" PRIMARY KEY ("node_id")
);

-- CreateTable
CREATE TABLE "revoked_keys" (
    "public_key" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "revoked_keys_pkey" PRIMARY KEY ("public_key")
);

-- CreateTable
CREATE TABLE "products" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "memo" TEXT NOT NULL DEFAULT '',
    "site_limit" INTEGER NOT NULL DEFAULT 0,
    "domain_limit" INTEGER NOT NULL DEFAULT 0,
    "traffic_price_cents" INTEGER NOT NULL DEFAULT 0,
    "over_limit_action" TEXT NOT NULL DEFAULT 'none',
    "sell_type" TEXT NOT NULL DEFAULT 'business',
    "use" TEXT NOT NULL DEFAULT 'commercial',
    "cname_mode" TEXT NOT NULL DEFAULT 'random',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "products_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sites" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "product_id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "owner_id" UUID,
    "name" TEXT NOT NULL,
    "status" "site_status" NOT NULL DEFAULT 'normal',
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "cache_version" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sites_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "site_assignments" (
    "site_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,

    CONSTRAINT "site_assignments_pkey" PRIMARY KEY ("site_id","account_id")
);

-- CreateTable
CREATE TABLE "zones" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "memo" TEXT NOT NULL DEFAULT '',
    "revision" INTEGER NOT NULL DEFAULT 0,
    "published_revision" INTEGER NOT NULL DEFAULT 0,
    "digest" TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000',
    "tombstone_floor" INTEGER NOT NULL DEFAULT 0,
    "key_sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "zones_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "zone_ports" (
    "id" UUID NOT NULL,
    "zone_id" UUID NOT NULL,
    "port" INTEGER NOT NULL,
    "port_type" SMALLINT NOT NULL DEFAULT 7,
    "tls" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "zone_ports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "zone_assignments" (
    "zone_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,

    CONSTRAINT "zone_assignments_pkey" PRIMARY KEY ("zone_id","account_id")
);

-- CreateIndex
CREATE INDEX "accounts_client_id_kind_idx" ON "accounts"("client_id", "kind");

-- CreateIndex
CREATE INDEX "accounts_parent_id_idx" ON "accounts"("parent_id");

-- CreateIndex
CREATE UNIQUE INDEX "accounts_kind_email_key" ON "accounts"("kind", "email");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_previous_hash_key" ON "sessions"("previous_hash");

-- CreateIndex
CREATE INDEX "sessions_account_id_idx" ON "sessions"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "login_challenges_key_hash_key" ON "login_challenges"("key_hash");

-- CreateIndex
CREATE INDEX "login_challenges_account_id_idx" ON "login_challenges"("account_id");

-- CreateIndex
CREATE INDEX "login_failures_first_at_idx" ON "login_failures"("first_at");

-- CreateIndex
CREATE INDEX "audit_rows_client_id_at_idx" ON "audit_rows"("client_id", "at");

-- CreateIndex
CREATE INDEX "audit_rows_account_id_at_idx" ON "audit_rows"("account_id", "at");

-- CreateIndex
CREATE INDEX "cache_rules_site_id_priority_created_at_idx" ON "cache_rules"("site_id", "priority", "created_at");

-- CreateIndex
CREATE INDEX "purges_site_id_created_at_idx" ON "purges"("site_id", "created_at");

-- CreateIndex
CREATE INDEX "purges_job_id_idx" ON "purges"("job_id");

-- CreateIndex
CREATE UNIQUE INDEX "domains_enabled_name_key" ON "domains"("enabled_name");

-- CreateIndex
CREATE INDEX "domains_site_id_created_at_id_idx" ON "domains"("site_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "domains_site_id_updated_at_id_idx" ON "domains"("site_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "domains_certificate_id_idx" ON "domains"("certificate_id");

-- CreateIndex
CREATE UNIQUE INDEX "domains_site_id_name_key" ON "domains"("site_id", "name");

-- CreateIndex
CREATE INDEX "upstreams_site_id_address_idx" ON "upstreams"("site_id", "address");

-- CreateIndex
CREATE UNIQUE INDEX "upstreams_domain_id_address_port_key" ON "upstreams"("domain_id", "address", "port");

-- CreateIndex
CREATE UNIQUE INDEX "certificates_site_id_name_key" ON "certificates"("site_id", "name");

-- CreateIndex
CREATE INDEX "outbox_zone_id_idx" ON "outbox"("zone_id");

-- CreateIndex
CREATE INDEX "edge_documents_zone_id_revision_idx" ON "edge_documents"("zone_id", "revision");

-- CreateIndex
CREATE INDEX "jobs_site_id_created_at_idx" ON "jobs"("site_id", "created_at");

-- CreateIndex
CREATE INDEX "jobs_state_idx" ON "jobs"("state");

-- CreateIndex
CREATE INDEX "job_receipts_node_id_state_idx" ON "job_receipts"("node_id", "state");

-- CreateIndex
CREATE UNIQUE INDEX "nodes_join_hash_key" ON "nodes"("join_hash");

-- CreateIndex
CREATE UNIQUE INDEX "nodes_public_key_key" ON "nodes"("public_key");

-- CreateIndex
CREATE UNIQUE INDEX "nodes_zone_id_name_key" ON "nodes"("zone_id", "name");

-- CreateIndex
CREATE INDEX "products_zone_id_idx" ON "products"("zone_id");

-- CreateIndex
CREATE UNIQUE INDEX "products_client_id_name_key" ON "products"("client_id", "name");

-- CreateIndex
CREATE INDEX "sites_client_id_created_at_id_idx" ON "sites"("client_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "sites_product_id_idx" ON "sites"("product_id");

-- CreateIndex
CREATE INDEX "sites_zone_id_idx" ON "sites"("zone_id");

-- CreateIndex
CREATE INDEX "sites_owner_id_idx" ON "sites"("owner_id");

-- CreateIndex
CREATE UNIQUE INDEX "sites_client_id_name_key" ON "sites"("client_id", "name");

-- CreateIndex
CREATE INDEX "site_assignments_account_id_idx" ON "site_assignments"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "zones_client_id_name_key" ON "zones"("client_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "zone_ports_zone_id_port_key" ON "zone_ports"("zone_id", "port");

-- CreateIndex
CREATE INDEX "zone_assignments_account_id_idx" ON "zone_assignments"("account_id");

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "accounts"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "login_challenges" ADD CONSTRAINT "login_challenges_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cache_rules" ADD CONSTRAINT "cache_rules_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purges" ADD CONSTRAINT "purges_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purges" ADD CONSTRAINT "purges_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "jobs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domains" ADD CONSTRAINT "domains_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domains" ADD CONSTRAINT "domains_certificate_id_fkey" FOREIGN KEY ("certificate_id") REFERENCES "certificates"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstreams" ADD CONSTRAINT "upstreams_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstreams" ADD CONSTRAINT "upstreams_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "certificates" ADD CONSTRAINT "certificates_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_receipts" ADD CONSTRAINT "job_receipts_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "jobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_receipts" ADD CONSTRAINT "job_receipts_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node_states" ADD CONSTRAINT "node_states_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "products" ADD CONSTRAINT "products_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "products" ADD CONSTRAINT "products_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_product_id_fkey" FOREIGN KEY ("product_id") REFERENCES "products"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sites" ADD CONSTRAINT "sites_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "accounts"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "site_assignments" ADD CONSTRAINT "site_assignments_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "site_assignments" ADD CONSTRAINT "site_assignments_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "zones" ADD CONSTRAINT "zones_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "zone_ports" ADD CONSTRAINT "zone_ports_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "zone_assignments" ADD CONSTRAINT "zone_assignments_zone_id_fkey" FOREIGN KEY ("zone_id") REFERENCES "zones"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "zone_assignments" ADD CONSTRAINT "zone_assignments_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- Wakes the publishers with the zone that has something to publish; equal notices of one transaction are sent once.
CREATE FUNCTION notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('outbox', NEW.zone_id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION notify_outbox();

-- Tells every api process to forget what it knew of an account, so that a suspension or a sign-out acts at once.
CREATE FUNCTION notify_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('identity', OLD.id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_notify AFTER UPDATE OR DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION notify_identity();
CREATE TRIGGER sessions_notify_end AFTER UPDATE ON sessions
  FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION notify_identity();
CREATE TRIGGER sessions_notify_delete AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION notify_identity();

-- A name is enabled once in the whole installation: the unique column follows the switch, whoever turns it.
CREATE FUNCTION follow_enabled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.enabled_name := CASE WHEN NEW.enabled THEN NEW.name END;
  RETURN NEW;
END $$;
CREATE TRIGGER domains_enabled_name BEFORE INSERT OR UPDATE OF name, enabled, enabled_name ON domains
  FOR EACH ROW EXECUTE FUNCTION follow_enabled();
