ALTER TABLE "rollouts" RENAME COLUMN "saying" TO "message_code";
ALTER TABLE "rollout_nodes" RENAME COLUMN "saying" TO "message_code";
ALTER TABLE "rollout_nodes" RENAME COLUMN "gauges" TO "metrics";
ALTER TABLE "rollout_lines" RENAME COLUMN "saying" TO "message_code";
ALTER TABLE "zone_versions" RENAME COLUMN "saying" TO "message_code";
