-- DropForeignKey
ALTER TABLE "acme_challenges" DROP CONSTRAINT "acme_challenges_order_id_fkey";
