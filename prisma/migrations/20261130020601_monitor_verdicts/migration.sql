ALTER TABLE node_standings ADD COLUMN monitor_status text DEFAULT 'unknown'::text NOT NULL,
  ADD COLUMN monitor_since timestamp(3) with time zone,
  ADD COLUMN monitor_clear_since timestamp(3) with time zone,
  ADD COLUMN monitor_silent_since timestamp(3) with time zone;
