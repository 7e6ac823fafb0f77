CREATE TABLE alert_channels (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    account_id uuid NOT NULL REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE,
    type text NOT NULL,
    name text NOT NULL,
    enabled boolean NOT NULL,
    kinds text[],
    address text NOT NULL,
    secret_sealed text,
    last_error text,
    failed_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX alert_channels_account_id_type_name_key ON alert_channels (account_id, type, name);
CREATE INDEX alert_channels_client_id_idx ON alert_channels (client_id);

CREATE TABLE alert_messages (
    id uuid PRIMARY KEY,
    channel_id uuid NOT NULL REFERENCES alert_channels(id) ON UPDATE CASCADE ON DELETE CASCADE,
    events jsonb NOT NULL,
    event_count integer NOT NULL,
    text text,
    is_pending boolean DEFAULT TRUE NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    parts_sent integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    claimed_until timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    sent_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    last_error text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
CREATE INDEX alert_messages_channel_id_created_at_idx ON alert_messages (channel_id, created_at);
CREATE INDEX alert_messages_created_at_idx ON alert_messages (created_at);
CREATE INDEX alert_messages_pending_idx ON alert_messages (due_at) WHERE is_pending;
CREATE INDEX alert_messages_pending_channel_idx ON alert_messages (channel_id) WHERE is_pending;

CREATE TABLE alert_notices (
    channel_id uuid NOT NULL REFERENCES alert_channels(id) ON UPDATE CASCADE ON DELETE CASCADE,
    alert_id uuid NOT NULL REFERENCES alerts(id) ON UPDATE CASCADE ON DELETE CASCADE,
    has_ended boolean NOT NULL,
    message_id uuid REFERENCES alert_messages(id) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (channel_id, alert_id, has_ended)
);
CREATE INDEX alert_notices_alert_id_idx ON alert_notices (alert_id);
CREATE INDEX alert_notices_message_id_idx ON alert_notices (message_id);
CREATE INDEX alert_notices_waiting_idx ON alert_notices (channel_id) WHERE message_id IS NULL;

CREATE TABLE alert_frequencies (
    client_id uuid PRIMARY KEY REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    interval_minutes integer NOT NULL,
    "grouping" text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

SELECT watch('alert_channels');
SELECT watch('alert_frequencies');
