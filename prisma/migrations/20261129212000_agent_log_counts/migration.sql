-- The lost lines of several agents of a node, because their heartbeats may arrive in any order.
ALTER TABLE node_states ADD COLUMN agent_log_counts jsonb NOT NULL DEFAULT '[]';
-- An empty start is that of the next agent that reports.
UPDATE node_states SET agent_log_counts = jsonb_build_array(jsonb_build_array(coalesce(agent_started_at, ''), logs_dropped));
