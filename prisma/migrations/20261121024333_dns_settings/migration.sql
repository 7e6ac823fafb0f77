-- CreateTable
CREATE TABLE "dns_settings" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "dns_type" TEXT NOT NULL,
    "credentials_sealed" TEXT NOT NULL,
    "root_domain" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dns_settings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dns_setting_states" (
    "setting_id" UUID NOT NULL,
    "held_until" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "fault" TEXT,
    "fault_at" TIMESTAMPTZ(3),
    "list_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "listed_at" TIMESTAMPTZ(3),
    "offered_lines" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "drifted" INTEGER NOT NULL DEFAULT 0,
    "drifted_names" TEXT[] DEFAULT ARRAY[]::TEXT[],

    CONSTRAINT "dns_setting_states_pkey" PRIMARY KEY ("setting_id")
);

-- CreateTable
CREATE TABLE "cnames" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "setting_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cnames_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dns_targets" (
    "client_id" UUID NOT NULL,
    "label" TEXT NOT NULL,
    "sets" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dns_targets_pkey" PRIMARY KEY ("client_id","label")
);

-- CreateTable
CREATE TABLE "dns_names" (
    "setting_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "wanted" JSONB NOT NULL,
    "ours" JSONB NOT NULL DEFAULT '[]',
    "generation" INTEGER NOT NULL DEFAULT 1,
    "wanted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "fault" TEXT,

    CONSTRAINT "dns_names_pkey" PRIMARY KEY ("setting_id","name")
);

-- CreateTable
CREATE TABLE "dns_plans" (
    "id" BIGSERIAL NOT NULL,
    "client_id" UUID NOT NULL,

    CONSTRAINT "dns_plans_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "dns_settings_client_id_root_domain_key" ON "dns_settings"("client_id", "root_domain");

-- CreateIndex
CREATE INDEX "cnames_setting_id_idx" ON "cnames"("setting_id");

-- CreateIndex
CREATE UNIQUE INDEX "cnames_client_id_name_key" ON "cnames"("client_id", "name");

-- CreateIndex
CREATE INDEX "dns_names_setting_id_due_at_idx" ON "dns_names"("setting_id", "due_at");

-- AddForeignKey
ALTER TABLE "dns_settings" ADD CONSTRAINT "dns_settings_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dns_setting_states" ADD CONSTRAINT "dns_setting_states_setting_id_fkey" FOREIGN KEY ("setting_id") REFERENCES "dns_settings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cnames" ADD CONSTRAINT "cnames_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cnames" ADD CONSTRAINT "cnames_setting_id_fkey" FOREIGN KEY ("setting_id") REFERENCES "dns_settings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dns_targets" ADD CONSTRAINT "dns_targets_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dns_names" ADD CONSTRAINT "dns_names_setting_id_fkey" FOREIGN KEY ("setting_id") REFERENCES "dns_settings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dns_plans" ADD CONSTRAINT "dns_plans_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE UNIQUE INDEX "cnames_default_key" ON "cnames"("client_id") WHERE "is_default";

-- What each name should answer, by what is true of groups. Read by dns-state/plan.ts alone.
CREATE VIEW dns_wanted AS
  SELECT c.client_id, c.setting_id, t.label || '.' || c.name AS name, t.sets AS wanted
  FROM cnames c JOIN dns_targets t ON t.client_id = c.client_id;

-- Whoever changes what names depend on has them worked out again, and somebody woken for it. Of operators without a
-- suffix nothing is to be worked out; a suffix that comes at the same moment does so by itself and again by the hour.
CREATE FUNCTION plan_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dns_plans (client_id)
    SELECT DISTINCT r.client_id FROM changed_rows r
    WHERE TG_TABLE_NAME = 'cnames' AND EXISTS (SELECT 1 FROM clients c WHERE c.id = r.client_id)
      OR EXISTS (SELECT 1 FROM cnames c WHERE c.client_id = r.client_id);
  IF FOUND THEN PERFORM pg_notify('dns', ''); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER plan_insert AFTER INSERT ON cnames REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON cnames REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_delete AFTER DELETE ON cnames REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_insert AFTER INSERT ON dns_targets REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_update AFTER UPDATE ON dns_targets REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();
CREATE TRIGGER plan_delete AFTER DELETE ON dns_targets REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION plan_names();

SELECT watch('dns_settings');
SELECT watch('cnames');
