-- Limits of a site that replace those of its product. NULL: the product's.
ALTER TABLE sites ADD COLUMN domain_limit INTEGER,
    ADD COLUMN port_limit INTEGER,
    ADD COLUMN auto_certificate_limit INTEGER;
