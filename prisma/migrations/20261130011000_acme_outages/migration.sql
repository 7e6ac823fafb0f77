-- Known to all API processes, so that an order is passed on once.
CREATE TABLE acme_outages (
    ca text PRIMARY KEY,
    until timestamp(3) with time zone NOT NULL
);
