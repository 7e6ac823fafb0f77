-- CreateTable
CREATE TABLE "brandings" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "title" TEXT NOT NULL DEFAULT '',
    "copyright" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "brandings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "brand_images" (
    "id" UUID NOT NULL,
    "branding_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "brand_images_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "announcements" (
    "id" UUID NOT NULL,
    "client_id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "position" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "announcements_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "email_settings" (
    "client_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "host" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "security" TEXT NOT NULL,
    "username" TEXT NOT NULL,
    "password_sealed" TEXT,
    "from_name" TEXT NOT NULL,
    "from_address" TEXT NOT NULL,
    "last_error" TEXT,
    "failed_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_settings_pkey" PRIMARY KEY ("client_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "brandings_host_key" ON "brandings"("host");

-- CreateIndex
CREATE INDEX "brandings_client_id_created_at_idx" ON "brandings"("client_id", "created_at");

-- CreateIndex
CREATE INDEX "brand_images_hash_idx" ON "brand_images"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "brand_images_branding_id_slot_key" ON "brand_images"("branding_id", "slot");

-- CreateIndex
CREATE INDEX "announcements_client_id_position_idx" ON "announcements"("client_id", "position");

-- AddForeignKey
ALTER TABLE "brandings" ADD CONSTRAINT "brandings_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "brand_images" ADD CONSTRAINT "brand_images_branding_id_fkey" FOREIGN KEY ("branding_id") REFERENCES "brandings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "announcements" ADD CONSTRAINT "announcements_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "email_settings" ADD CONSTRAINT "email_settings_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;
