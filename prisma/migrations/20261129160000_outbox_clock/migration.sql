-- The same time under another name. Prisma generates CURRENT_TIMESTAMP itself, by the clock of the API's machine.
ALTER TABLE outbox ALTER COLUMN created_at SET DEFAULT transaction_timestamp();
