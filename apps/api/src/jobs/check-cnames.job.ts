// Checks every domain's CNAME once an hour, in batches. Runs in every process with a lease per domain. The next check
// gets a random offset, so that domains added together are not checked together.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { keepFound, suffixesIn, targetsOf } from '../modules/domains/cname.service.ts';
import { repeat } from '../node-link/repeat.ts';

const BATCH = 200;
const CHECK_INTERVAL_MS = 5000;
/** Also the retry time after a failed lookup. */
const TAKE = `UPDATE domains d SET cname_due_at = now() + interval '10 minutes'
  FROM (SELECT id FROM domains WHERE cname_due_at <= now() ORDER BY cname_due_at LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED) due, sites s
  WHERE d.id = due.id AND s.id = d.site_id RETURNING d.id, d.name, s.cname_label AS label,
    ARRAY(SELECT c.name FROM cnames c WHERE c.client_id = s.client_id ORDER BY c.is_default DESC, c.created_at) AS own`;
const HAS_SUFFIX = 'SELECT EXISTS (SELECT FROM cnames) AS "hasSuffix"';

/** Returns the number of due domains. */
export async function checkDueCnames(installation: Installation): Promise<number> {
  const { pool, env, resolver } = installation;
  if (env.CNAME_SUFFIX === undefined) {
    const { rows } = await pool.query<{ hasSuffix: boolean }>(HAS_SUFFIX);
    if (rows[0]?.hasSuffix !== true) return 0;
  }
  const { rows } = await pool.query<{ id: string; name: string; label: string; own: string[] }>(TAKE);
  const looked = rows
    .map(({ id, name, label, own }) => ({ id, name, targets: targetsOf(label, suffixesIn(own, env)) }))
    // Operators without a CNAME suffix have nothing to check.
    .filter(({ targets }) => targets.length > 0);
  await keepFound(installation, looked, await resolver.check(looked));
  return rows.length;
}

export function startCnameChecks(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  let isStopping = false;
  const checkAll = async () => {
    while (!isStopping && (await checkDueCnames(installation)) === BATCH);
  };
  const checks = repeat(checkAll, CHECK_INTERVAL_MS, log, 'names of domains not looked up');
  return {
    async stop() {
      isStopping = true;
      installation.resolver.stop();
      await checks.stop();
    },
  };
}
