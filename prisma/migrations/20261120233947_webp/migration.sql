-- AlterTable
ALTER TABLE "compressions" ADD COLUMN     "webp" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "webp_max_bytes" INTEGER NOT NULL DEFAULT 10485760,
ADD COLUMN     "webp_min_bytes" INTEGER NOT NULL DEFAULT 1024,
ADD COLUMN     "webp_quality" INTEGER NOT NULL DEFAULT 80,
ADD COLUMN     "webp_types" TEXT[] DEFAULT ARRAY['image/jpeg', 'image/png']::TEXT[];
