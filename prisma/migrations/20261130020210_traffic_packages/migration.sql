CREATE TABLE traffic_packages (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    -- No references: the months of a removed customer and product stay as they were.
    owner_id uuid NOT NULL,
    covered_product_id uuid,
    product_id uuid REFERENCES products(id) ON UPDATE CASCADE ON DELETE SET NULL,
    type text NOT NULL CHECK (type IN ('basic', 'extra')),
    bytes bigint NOT NULL CHECK (bytes > 0),
    starts_at timestamp(3) with time zone NOT NULL,
    ends_at timestamp(3) with time zone,
    sold_until timestamp(3) with time zone,
    memo text DEFAULT '' NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX traffic_packages_client_id_created_at_id_idx ON traffic_packages(client_id, created_at, id);
CREATE INDEX traffic_packages_owner_id_idx ON traffic_packages(owner_id);
CREATE INDEX traffic_packages_product_id_idx ON traffic_packages(product_id);

-- Customers whose packages are checked, and when next. No reference: what a removed customer used is still shown.
CREATE TABLE traffic_checks (
    owner_id uuid PRIMARY KEY,
    due_at timestamp(3) with time zone,
    counted_until timestamp(3) with time zone
);
CREATE INDEX traffic_checks_due_at_idx ON traffic_checks(due_at);

-- What extra packages used in the months before traffic_checks.counted_until.
CREATE TABLE traffic_package_months (
    package_id uuid NOT NULL REFERENCES traffic_packages(id) ON UPDATE CASCADE ON DELETE CASCADE,
    month timestamp(3) with time zone NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (package_id, month)
);
CREATE INDEX sites_limited_idx ON sites(owner_id) WHERE status = 'limit';

-- Products that mails named: once in mails of a kind for each month and set of packages.
CREATE TABLE traffic_notices (
    owner_id uuid NOT NULL REFERENCES accounts(id) ON UPDATE CASCADE ON DELETE CASCADE,
    month timestamp(3) with time zone NOT NULL,
    kind text NOT NULL,
    -- No reference: a removed product is not mailed about again.
    product_id uuid NOT NULL,
    packages text NOT NULL,
    PRIMARY KEY (owner_id, product_id, month, kind, packages)
);

SELECT watch('traffic_packages');
