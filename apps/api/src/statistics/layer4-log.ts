// Layer-4 sessions as rows, and their sums by country and outcome.
import { randomUUID } from 'node:crypto';
import { SessionLine, type LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type { Layer4Outcome } from '@edgeloom/contract/statistics/layer4.ts';
import type { PoolClient } from 'pg';
import type { Geoip, Location } from '../geoip/geoip.ts';
import { copyRows, milliseconds, text } from './access-log.ts';
import { clockOf, isStorableAddress, parse, reachedBy, textsOf, UUID, type ReadLines } from './log-lines.ts';
import type { Partitions } from './partitions.ts';
import { STEPS } from './traffic.ts';

export interface Session extends SessionLine {
  /** Milliseconds since 1970. */
  at: number;
  location: Location;
  outcome: Layer4Outcome;
}

/** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
export async function readSessions(
  batch: LogBatch,
  geoip: Pick<Geoip, 'lookup'>,
  now: number,
): Promise<ReadLines<Session>> {
  const texts = await textsOf(batch);
  const timeOf = clockOf(batch, now);
  const failed: string[] = [];
  const lines = texts.flatMap((each) => {
    const line = parse(SessionLine, each);
    if (line === null || !UUID.test(line.port) || !isStorableAddress(line.address)) {
      failed.push(each);
      return [];
    }
    return {
      ...line,
      at: timeOf(line.time),
      location: geoip.lookup(line.address),
      outcome: outcomeOf(line),
    };
  });
  return { lines, failed, reached: reachedBy(batch, texts, now) };
}

/** nginx closes a session of a forward without origins with 200. 500 and 502: the node or its origins failed. */
function outcomeOf({ status, upstream }: SessionLine): Layer4Outcome {
  if (status === 200) return upstream === '' ? 'failed' : 'allowed';
  return status >= 500 && status !== 503 ? 'failed' : 'dropped';
}

const columns = [
  'at',
  'id',
  'site_id',
  'forward_id',
  'node_id',
  'protocol',
  'port',
  'address',
  'country',
  'isp',
  'status',
  'outcome',
  'bytes',
  'request_bytes',
  'session_time',
  'upstream',
];

export async function addSessions(
  client: PoolClient,
  partitions: Partitions,
  nodeId: string,
  siteOf: (line: Session) => string,
  samplingOf: (line: Session) => number,
  lines: readonly Session[],
  now: number,
): Promise<void> {
  const since = partitions.since('l4_log', now);
  const rows = lines
    // Sessions are few, so they are stored all or not at all.
    .filter((line) => line.at >= since && samplingOf(line) > 0)
    .map((line) =>
      [
        new Date(line.at).toISOString(),
        randomUUID(),
        siteOf(line),
        line.port,
        nodeId,
        line.protocol === 'UDP' ? 'udp' : 'tcp',
        line.number,
        line.address,
        line.location.country,
        text(line.location.isp, 128),
        line.status,
        line.outcome,
        line.bytes,
        line.requestBytes,
        milliseconds(line.sessionTime),
        text(line.upstream, 256),
      ].join('\t'),
    );
  if (rows.length > 0) await copyRows(client, 'l4_log', columns, rows);
  await addSums(client, partitions, nodeId, siteOf, lines, now);
}

async function addSums(
  client: PoolClient,
  partitions: Partitions,
  nodeId: string,
  siteOf: (line: Session) => string,
  lines: readonly Session[],
  now: number,
): Promise<void> {
  const sums = new Map<string, { at: number; sessions: number; bytes: number } & Record<string, string | number>>();
  for (const step of STEPS) {
    const since = partitions.since('l4_traffic', now, step);
    for (const line of lines) {
      if (line.at < since) continue;
      const at = Math.floor(line.at / 1000 / step) * step;
      const group = { step, at, site: siteOf(line), country: line.location.country, outcome: line.outcome };
      const key = Object.values(group).join(' ');
      const sum = sums.get(key) ?? { ...group, sessions: 0, bytes: 0 };
      sum.sessions += 1;
      sum.bytes += line.bytes + line.requestBytes;
      sums.set(key, sum);
    }
  }
  if (sums.size === 0) return;
  await client.query(
    `INSERT INTO l4_traffic AS t (step, at, site_id, node_id, country, outcome, sessions, bytes)
     SELECT r.step, to_timestamp(r.at), r.site, $1, r.country, r.outcome, r.sessions, r.bytes
     FROM json_to_recordset($2) AS r (step int, at float8, site uuid, country text, outcome text, sessions bigint, bytes bigint)
     ORDER BY 1, 2, 3, 5, 6
     ON CONFLICT (site_id, step, at, node_id, country, outcome) DO UPDATE SET
       sessions = t.sessions + excluded.sessions, bytes = t.bytes + excluded.bytes`,
    [nodeId, JSON.stringify([...sums.values()])],
  );
}
