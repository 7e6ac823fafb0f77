-- The attempt that holds the lease of a message.
ALTER TABLE alert_messages ADD COLUMN claimed_by uuid;
