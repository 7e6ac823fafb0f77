-- AlterTable
ALTER TABLE "dns_setting_states" ADD COLUMN     "weighting" TEXT;
