-- AlterTable
ALTER TABLE "node_states" ADD COLUMN     "ended_began_at" TIMESTAMPTZ(3);
