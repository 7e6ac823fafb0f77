ALTER TABLE blocks ADD COLUMN rule text NOT NULL DEFAULT '', ADD COLUMN removed_by uuid;
