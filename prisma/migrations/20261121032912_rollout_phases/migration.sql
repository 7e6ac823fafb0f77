-- How far a node is with what it was told, in place of whether it has answered.
ALTER TABLE "rollout_nodes" DROP COLUMN "accepted",
ADD COLUMN     "phase" TEXT;
