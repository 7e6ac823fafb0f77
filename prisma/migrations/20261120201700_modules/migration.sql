-- CreateTable
CREATE TABLE "modules" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "modules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "domain_modules" (
    "domain_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "module_id" UUID NOT NULL,

    CONSTRAINT "domain_modules_pkey" PRIMARY KEY ("domain_id","kind")
);

-- CreateTable
CREATE TABLE "redirects" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "module_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "code" INTEGER NOT NULL DEFAULT 301,
    "keep_query" BOOLEAN NOT NULL DEFAULT true,
    "keep_rest" BOOLEAN NOT NULL DEFAULT true,
    "priority" INTEGER NOT NULL DEFAULT 100,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "redirects_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "modules_site_id_kind_name_key" ON "modules"("site_id", "kind", "name");

-- CreateIndex
CREATE INDEX "domain_modules_module_id_domain_id_idx" ON "domain_modules"("module_id", "domain_id");

-- CreateIndex
CREATE INDEX "redirects_module_id_created_at_id_idx" ON "redirects"("module_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "redirects_site_id_idx" ON "redirects"("site_id");

-- AddForeignKey
ALTER TABLE "modules" ADD CONSTRAINT "modules_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domain_modules" ADD CONSTRAINT "domain_modules_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domain_modules" ADD CONSTRAINT "domain_modules_module_id_fkey" FOREIGN KEY ("module_id") REFERENCES "modules"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redirects" ADD CONSTRAINT "redirects_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redirects" ADD CONSTRAINT "redirects_module_id_fkey" FOREIGN KEY ("module_id") REFERENCES "modules"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('modules');
SELECT watch('domain_modules');
SELECT watch('redirects');
