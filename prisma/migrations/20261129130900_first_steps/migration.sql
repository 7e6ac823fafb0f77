-- Accounts that dismissed the list of first steps on the dashboard.
ALTER TABLE accounts ADD COLUMN hides_first_steps boolean NOT NULL DEFAULT false;
