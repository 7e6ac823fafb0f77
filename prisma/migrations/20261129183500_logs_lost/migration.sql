-- Access log lines that nodes deleted unsent, over all starts of their agents. What was lost before is not news.
ALTER TABLE node_states ADD COLUMN logs_lost bigint NOT NULL DEFAULT 0,
  ADD COLUMN logs_lost_at timestamptz(3),
  ADD COLUMN logs_dropped bigint NOT NULL DEFAULT 0,
  ADD COLUMN agent_started_at text,
  ADD COLUMN previous_agent_started_at text;
UPDATE node_states SET logs_dropped = trunc((load->'logs'->>'droppedLines')::numeric)
WHERE (load->'logs'->>'droppedLines')::numeric BETWEEN 1 AND 1e15;
