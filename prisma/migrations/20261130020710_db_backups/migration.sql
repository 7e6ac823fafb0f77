-- Backups of the database: when, where to, and the state of the last one.
CREATE TABLE db_backups (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    period text DEFAULT 'off' NOT NULL CHECK (period IN ('off', 'day', 'week', 'month')),
    "time" text DEFAULT '03:00' NOT NULL CHECK ("time" ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
    path text NOT NULL,
    retention integer DEFAULT 7 NOT NULL CHECK (retention > 0),
    counted_from timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    status text DEFAULT 'idle' NOT NULL CHECK (status IN ('idle', 'waiting', 'running')),
    tables_done integer DEFAULT 0 NOT NULL,
    tables integer DEFAULT 0 NOT NULL,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    last_error text,
    claimed_by uuid,
    claimed_until timestamp(3) with time zone
);
CREATE UNIQUE INDEX db_backups_client_id_key ON db_backups (client_id);

SELECT watch('db_backups');
