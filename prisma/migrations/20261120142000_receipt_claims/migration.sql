-- AlterTable
ALTER TABLE "job_receipts" ADD COLUMN     "claimed_until" TIMESTAMPTZ(3);

