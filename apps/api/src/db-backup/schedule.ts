// The times at which a row of db_backups is due, as SQL. Weeks begin on Monday.

const start = (next: string) =>
  `CASE WHEN b.period <> 'off' THEN (date_trunc(b.period, (now() AT TIME ZONE 'UTC') - b.time::interval)
     + b.time::interval${next}) AT TIME ZONE 'UTC' END`;

/** The last scheduled time until now. */
export const LAST_TIME = start('');
export const NEXT_TIME = start(` + ('1 ' || b.period)::interval`);

/** The database is that of all operators, so one of several may neither set nor run backups. */
export const IS_ONLY_OPERATOR = '(SELECT count(*) FROM clients) = 1';
