ALTER TABLE pending_tops ADD COLUMN failed_at TIMESTAMPTZ(3);
