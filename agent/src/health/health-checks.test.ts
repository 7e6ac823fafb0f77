import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HealthChecks } from './health-checks.ts';

const HOUR_SECONDS = 3600;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A domain with one origin. */
function domain({ path = '/', weight = 1, upstreamID = 'row-1' } = {}): HostDoc {
  return {
    kind: 'host',
    name: 'www.example.com',
    domainID: 'domain',
    siteID: 'site',
    cacheVersion: 0,
    certID: null,
    https: { force: false, hsts: null, minTLS: 'TLSv1.2' },
    origin: {
      scheme: 'http',
      portMap: [],
      host: null,
      sni: null,
      health: {
        path,
        host: 'www.example.com',
        intervalSeconds: HOUR_SECONDS,
        timeoutSeconds: 60,
        statusFrom: 200,
        statusTo: 399,
        fails: 1,
        passes: 1,
      },
      method: 'roundRobin',
      maxFails: 0,
      failTimeoutSeconds: 10,
      connectTimeoutSeconds: 10,
      readTimeoutSeconds: 10,
      upstreams: [{ id: upstreamID, address: 'origin.example.com', port: 80, weight, backup: false }],
    },
  };
}

/** Health checks whose first check fails. The others do not end. */
async function startWithDeadOrigin() {
  let checks = 0;
  const down: string[][] = [];
  const healthChecks = new HealthChecks({
    resolve: () => {
      checks += 1;
      return checks === 1 ? Promise.resolve([]) : new Promise(() => undefined);
    },
    authorities: null,
    pairOf: () => Promise.reject(new Error('no certificate')),
    isReady: () => true,
    setInNginx: (ids) => Promise.resolve(void down.push(ids)),
    report: () => undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  onTestFinished(() => healthChecks.stop());
  healthChecks.set('host/www.example.com', domain());
  await vi.advanceTimersByTimeAsync(3000);
  expect(down).toEqual([['row-1']]);
  down.length = 0;
  return { healthChecks, down };
}

// An edit once created the check again, as healthy.
test.each([
  ['of something else', { weight: 2 }, 'row-1'],
  ['of the check', { path: '/health' }, 'row-1'],
  ["of the upstream's row", { upstreamID: 'row-2' }, 'row-2'],
  ['of the row and the check', { upstreamID: 'row-2', path: '/health' }, 'row-2'],
])('an origin that is down stays down after an edit %s', async (_, edit, row) => {
  const { healthChecks, down } = await startWithDeadOrigin();
  healthChecks.set('host/www.example.com', domain(edit));
  await vi.advanceTimersByTimeAsync(11_000);
  // Soon, and with the next refresh.
  expect(down).toEqual([[row], [row]]);
});

test('a removed domain is no longer reported to nginx', async () => {
  const { healthChecks, down } = await startWithDeadOrigin();
  healthChecks.set('host/www.example.com', null);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(down).toEqual([]);
});
