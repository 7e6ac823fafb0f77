CREATE TABLE pending_requests (
    id BIGSERIAL NOT NULL,
    shipment UUID,
    zone_id UUID NOT NULL,
    first_at TIMESTAMPTZ(3) NOT NULL,
    last_at TIMESTAMPTZ(3) NOT NULL,
    lines INTEGER NOT NULL,
    data BYTEA NOT NULL,

    CONSTRAINT pending_requests_pkey PRIMARY KEY (id)
);
-- Compressed before.
ALTER TABLE pending_requests ALTER COLUMN data SET STORAGE EXTERNAL;
