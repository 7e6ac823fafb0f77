import { fail } from '../../core/fail.ts';

/**
 * Each check resolves if its dependency works. Without a vital dependency the API cannot respond; without another one
 * it only publishes late.
 */
export type Checks = ReadonlyMap<string, { isVital: boolean; check: () => Promise<unknown> }>;

export const VERSION = '0.1.0';
const PATIENCE_MS = 2000;

/** `degraded` still returns 200: a load balancer should not take such a process out of service. */
export async function checkHealth(checks: Checks) {
  const results = await runChecks(checks);
  const failed = results.filter(([, { ok }]) => !ok).map(([name]) => name);
  const found = Object.fromEntries(results);
  if (failed.some((name) => checks.get(name)?.isVital)) fail('SELF_CHECK_FAILED', { extra: { checks: found } });
  return { status: failed.length > 0 ? ('degraded' as const) : ('ok' as const), version: VERSION, checks: found };
}

export const runChecks = (checks: Checks) =>
  Promise.all([...checks].map(async ([name, { check }]) => [name, await look(check)] as const));

async function look(check: () => Promise<unknown>) {
  const begun = performance.now();
  const took = () => Math.round((performance.now() - begun) * 10) / 10;
  // Errors may contain host names and accounts, and the endpoint is public. Only the log has the cause.
  let error: 'not reachable' | 'no response' = 'not reachable';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      error = 'no response';
      reject(new Error(error));
    }, PATIENCE_MS);
  });
  try {
    await Promise.race([check(), late]);
    return { ok: true, tookMs: took() };
  } catch {
    return { ok: false, tookMs: took(), error };
  } finally {
    clearTimeout(timer);
  }
}
