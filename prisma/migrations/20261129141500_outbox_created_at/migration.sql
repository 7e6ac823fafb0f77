-- How long a change has waited to be published. Rows from before the migration count from the migration.
ALTER TABLE outbox ADD COLUMN created_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP;
