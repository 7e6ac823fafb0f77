-- AlterTable
ALTER TABLE "node_states" ADD COLUMN     "failing_patterns" JSONB NOT NULL DEFAULT '[]';
