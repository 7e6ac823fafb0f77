-- The expiry in the last notice of a site, and the threshold of that notice in days.
ALTER TABLE sites ADD COLUMN noticed_end TIMESTAMPTZ(3),
    ADD COLUMN noticed_days INTEGER;
