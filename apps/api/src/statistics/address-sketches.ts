// How many different addresses domains had, by sketches of hours and days that can be merged. They belong to a site and
// not to its customer, who may change.
import type { PoolClient } from 'pg';
import type { Ctx } from '../core/ctx.ts';
import { sql } from '../core/sql.ts';
import { DistinctCount, MAX_EXACT } from './hyperloglog.ts';
import { ADDRESS_DAYS } from './retention.ts';
import { ofDomains, piecesSql, seenSql, type Selection, type Times } from './selection.ts';
import { wholeHours } from './time-interval.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [3600, 86_400] as const;

interface Place {
  /** Milliseconds since 1970. */
  at: number;
  site: string;
  domain: string;
}
interface Row extends Place {
  step: number;
  addresses: DistinctCount;
}

/**
 * One process at a time, because a sketch that is written replaces the one that was read. `since`: addresses of earlier
 * hours are not added, by the seconds of a step.
 */
export async function addAddresses(
  client: PoolClient,
  groups: readonly (Place & { addresses: readonly string[] })[],
  since: Readonly<Record<(typeof STEPS)[number], number>>,
): Promise<void> {
  const rows = new Map<string, Row>();
  for (const { at, site, domain, addresses } of groups)
    for (const step of STEPS) {
      if (at < since[step]) continue;
      const start = at - (at % (step * 1000));
      const key = keyOf({ step, at: start, site, domain });
      const row = rows.get(key) ?? { step, at: start, site, domain, addresses: new DistinctCount() };
      rows.set(key, row);
      for (const address of addresses) row.addresses.add(address);
    }
  const places = [...rows.values()];
  const keys = [
    places.map(({ step }) => step),
    places.map(({ at }) => new Date(at)),
    places.map(({ site }) => site),
    places.map(({ domain }) => domain),
  ];
  const { rows: known } = await client.query<Omit<Row, 'at' | 'addresses'> & { at: Date; sketch: Buffer }>(
    `SELECT step, at, site_id AS site, domain_id AS domain, sketch FROM address_sketches
     JOIN unnest($1::int[], $2::timestamptz[], $3::uuid[], $4::uuid[]) AS k (step, at, site_id, domain_id)
       USING (step, at, site_id, domain_id)`,
    keys,
  );
  for (const { sketch, at, ...place } of known)
    rows.get(keyOf({ ...place, at: at.getTime() }))?.addresses.merge(sketch);
  await client.query(
    `INSERT INTO address_sketches (step, at, site_id, domain_id, sketch)
     SELECT * FROM unnest($1::int[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::bytea[])
     ON CONFLICT (site_id, step, at, domain_id) DO UPDATE SET sketch = excluded.sketch`,
    [...keys, places.map(({ addresses }) => addresses.toBytes())],
  );
}

const keyOf = ({ step, at, site, domain }: Omit<Row, 'addresses'>) => `${step} ${at} ${site} ${domain}`;

export interface AddressCount {
  count: number;
  /** Wider than asked if that is not of whole hours, or days. */
  times: Times;
  isEstimate: boolean;
}

/** Counts whole hours, or whole days once hours are not kept. Null: a part of the time is not kept any more. */
export async function countAddresses(
  { db, now }: Ctx,
  selection: Selection,
  asked: Times,
): Promise<AddressCount | null> {
  const [start, end, time] = [asked.from.getTime(), asked.to.getTime(), now().getTime()];
  if (start < time - ADDRESS_DAYS[86_400] * DAY_MS) return null;
  const { from, to } = wholeHours(asked, now());
  // Before it, whole days are read.
  const firstHour = time - (ADDRESS_DAYS[3600] - 1) * DAY_MS;
  const times = {
    from: start > firstHour ? from : new Date(Math.floor(start / DAY_MS) * DAY_MS),
    to: end > firstHour ? to : new Date(Math.ceil(end / DAY_MS) * DAY_MS),
  };
  const rows = await db.$read<{ sketch: Buffer }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}, ${piecesSql(hoursOf(times))}
    SELECT t.sketch FROM seen JOIN pieces p ON TRUE JOIN address_sketches t
      ON t.site_id = seen.id AND t.step = p.step AND t.at >= p.since AND t.at < p.until${ofDomains(selection)}`,
  );
  const all = new DistinctCount();
  for (const { sketch } of rows) all.merge(sketch);
  const count = all.count();
  return { count, times, isEstimate: count > MAX_EXACT };
}

/** To the end of the current hour, too. */
const hoursOf = ({ from, to }: Times): Times => ({ from, to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS) });
