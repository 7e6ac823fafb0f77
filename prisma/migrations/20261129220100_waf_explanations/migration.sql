-- Rows of before have no explanation. A constant default rewrites no partition.
ALTER TABLE access_log ADD COLUMN waf TEXT NOT NULL DEFAULT '';
