-- The expiry in the last notice of a site, and the threshold of that notice in days.
ALTER TABLE sites ADD COLUMN noticed_end TIMESTAMPTZ(3),
    ADD COLUMN noticed_days INTEGER;

-- The threshold that has passed already brings no mail, since customers have renewed or let go.
UPDATE sites SET noticed_end = expires_at,
    noticed_days = CASE WHEN expires_at <= now() + interval '1 day' THEN 1 WHEN expires_at <= now() + interval '7 days' THEN 7 ELSE 30 END
  WHERE expires_at > now() AND expires_at <= now() + interval '30 days';
