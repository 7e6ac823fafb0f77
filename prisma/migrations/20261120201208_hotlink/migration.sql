-- CreateTable
CREATE TABLE "anti_referers" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "domain_id" UUID NOT NULL,
    "is_black" BOOLEAN NOT NULL,
    "referers" TEXT[],
    "allow_empty" BOOLEAN NOT NULL,
    "type" TEXT NOT NULL,
    "value" TEXT[],
    "action" TEXT NOT NULL,
    "target" TEXT,
    "priority" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "anti_referers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "anti_headers" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "domain_id" UUID,
    "name" TEXT NOT NULL,
    "operator" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "anti_headers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "anti_referers_domain_id_priority_id_idx" ON "anti_referers"("domain_id", "priority", "id");

-- CreateIndex
CREATE INDEX "anti_referers_site_id_idx" ON "anti_referers"("site_id");

-- CreateIndex
CREATE INDEX "anti_headers_domain_id_priority_id_idx" ON "anti_headers"("domain_id", "priority", "id");

-- CreateIndex
CREATE INDEX "anti_headers_site_id_idx" ON "anti_headers"("site_id");

-- AddForeignKey
ALTER TABLE "anti_referers" ADD CONSTRAINT "anti_referers_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "anti_referers" ADD CONSTRAINT "anti_referers_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "anti_headers" ADD CONSTRAINT "anti_headers_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "anti_headers" ADD CONSTRAINT "anti_headers_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('anti_referers');
SELECT watch('anti_headers');
