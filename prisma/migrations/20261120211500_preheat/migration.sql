-- AlterTable
ALTER TABLE "job_receipts" ADD COLUMN     "progress" INTEGER NOT NULL DEFAULT 0;
