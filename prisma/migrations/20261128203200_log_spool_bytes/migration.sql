ALTER TABLE log_spool ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE log_spool SET bytes = octet_length(data);

-- Sums by site read this index only.
CREATE INDEX log_spool_site_id_bytes_idx ON log_spool (site_id, bytes);
