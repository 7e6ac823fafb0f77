-- Access log lines of a node that failed to parse: their number, and the newest ones.
CREATE TABLE unreadable_lines (
  node_id uuid PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE ON UPDATE CASCADE,
  count bigint NOT NULL DEFAULT 0,
  lines jsonb NOT NULL DEFAULT '[]'
);
