// Operators share dependencies and background work. All else is of the operator's own zones and sites.
import type { ClientHealth } from '@edgeloom/contract/client-health/client-health.ts';
import { LATE_SECONDS } from '@edgeloom/contract/overview/late-seconds.ts';
import type { Ctx } from '../../core/ctx.ts';
import { memoizeLatest } from '../../core/memoize.ts';
import { sql } from '../../core/sql.ts';
import { rowsOf } from '../attention/conditions.ts';
import { runChecks, VERSION, type Checks } from '../system/health.ts';
import { isOnline, isSilent, readQueues } from '../system/installation-state.ts';

/** Each open page polls these costly reads: the shared parts once for all operators, the others once per account. */
const MAX_AGE_MS = 15_000;
type SharedParts = Pick<ClientHealth, 'checks' | 'queues'>;
type OwnParts = Pick<ClientHealth, 'nodes' | 'publishing' | 'logs' | 'certificates'>;
const sharedOnce = memoizeLatest<SharedParts>();
const ownOnce = memoizeLatest<OwnParts>();

export async function get(ctx: Ctx, checks: Checks): Promise<ClientHealth> {
  const { actor, now, installation } = ctx;
  const period = String(Math.floor(now().getTime() / MAX_AGE_MS));
  const key = installation.env.DATABASE_URL;
  const [shared, own] = await Promise.all([
    sharedOnce(key, period, () => readSharedParts(ctx, checks)),
    ownOnce(`${key} ${actor.id}`, period, () => readOwnParts(ctx)),
  ]);
  const parts = { version: VERSION, ...shared, ...own };
  return { status: statusOf(parts), ...parts };
}

/** Without the number of entries, which would show what other operators do. */
async function readSharedParts({ installation: { pool } }: Ctx, checks: Checks): Promise<SharedParts> {
  const [checked, queues] = await Promise.all([runChecks(checks), readQueues(pool)]);
  return {
    checks: Object.fromEntries(checked),
    queues: queues.map(({ queue, delaySeconds }) => ({ queue, delaySeconds })),
  };
}

async function readOwnParts(ctx: Ctx): Promise<OwnParts> {
  const [{ silentNodes, ...nodes }, publishing, certificates] = await Promise.all([
    readNodes(ctx),
    readPublishing(ctx),
    readCertificates(ctx),
  ]);
  return { nodes, publishing, logs: { silentNodes }, certificates };
}

type Nodes = ClientHealth['nodes'] & ClientHealth['logs'];

async function readNodes({ db }: Ctx): Promise<Nodes> {
  const [found] = await db.$read<Nodes>(
    ({ zone }) => sql`
      SELECT count(*) FILTER (WHERE ${isOnline})::int AS online,
        count(*) FILTER (WHERE n.enabled AND (${isOnline}) IS NOT TRUE)::int AS offline,
        count(*) FILTER (WHERE NOT n.enabled)::int AS disabled,
        count(*) FILTER (WHERE jsonb_array_length(s.rejected) > 0)::int AS rejecting,
        count(*) FILTER (WHERE ${isSilent})::int AS "silentNodes"
      FROM zones z JOIN nodes n ON n.zone_id = z.id LEFT JOIN node_states s ON s.node_id = n.id
      WHERE ${zone} AND n.joined_at IS NOT NULL`,
  );
  return found ?? { online: 0, offline: 0, disabled: 0, rejecting: 0, silentNodes: 0 };
}

async function readPublishing({ db }: Ctx): Promise<ClientHealth['publishing']> {
  const [found] = await db.$read<ClientHealth['publishing']>(
    ({ zone }) => sql`
      SELECT count(o.failed_at)::int AS failing, (count(*) - count(o.failed_at))::int AS waiting,
        coalesce(extract(epoch FROM now() - min(o.created_at) FILTER (WHERE o.failed_at IS NULL)), 0)::float8
          AS "delaySeconds"
      FROM zones z JOIN outbox o ON o.zone_id = z.id WHERE ${zone}`,
  );
  return found ?? { failing: 0, waiting: 0, delaySeconds: 0 };
}

async function readCertificates({ db, now }: Ctx): Promise<ClientHealth['certificates']> {
  const [failed, ending] = (['certificatesFailed', 'certificatesEnding'] as const).map((kind) => rowsOf(kind, now()));
  if (!failed || !ending) return { failed: 0, ending: 0 };
  const [found] = await db.$read<ClientHealth['certificates']>(
    ({ site }) => sql`
      SELECT count(*) FILTER (WHERE ${failed.condition})::int AS failed,
        count(*) FILTER (WHERE ${ending.condition})::int AS ending
      FROM sites s JOIN certificates x ON x.site_id = s.id WHERE ${site}`,
  );
  return found ?? { failed: 0, ending: 0 };
}

/** The worst of the parts. */
export function statusOf({
  checks,
  queues,
  nodes,
  publishing,
  logs,
  certificates,
}: Omit<ClientHealth, 'status'>): ClientHealth['status'] {
  const isDown = Object.values(checks).some(({ ok }) => !ok);
  if (isDown || nodes.offline + nodes.rejecting + publishing.failing + certificates.failed > 0) return 'error';
  const isLate = [...queues, publishing].some(({ delaySeconds }) => delaySeconds > LATE_SECONDS);
  return isLate || logs.silentNodes + certificates.ending > 0 ? 'warning' : 'ok';
}
