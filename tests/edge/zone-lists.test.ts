// Subscribed lists of a zone: nginx closes connections of listed visitors, whatever the kernel does.
import { randomUUID } from 'node:crypto';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import type { ZoneListsDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { startEdge, type Edge } from '../support/services/edge.ts';

const [BLOCKED, ENDED, MONITORED, EXEMPT, ALLOWED, OTHER] = [
  '127.0.5.1',
  '127.0.5.2',
  '127.0.5.3',
  '127.0.5.4',
  '127.0.5.5',
  '127.0.6.1',
] as const;

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    zone: {
      worker: { processes: 1, connections: 1024 },
      firewall: { level: 0, whitelist: [EXEMPT], blacklist: [], synProtection: false },
    },
  });
});
afterAll(() => edge.stop());

const list = (value: string[], expires: { ip: string; at: string }[] = []) =>
  listDoc({ id: randomUUID(), value, expires });
const zoneLists = (...lists: ZoneListsDoc['lists']) => edge.put({ kind: 'zoneLists', lists });
const visitFrom = (localAddress: string, host: string) => statusFrom(localAddress, edge.ports.http, host);
const visitsOf = (host: string, ...addresses: string[]) =>
  Promise.all(addresses.map((address) => visitFrom(address, host)));

test('block lists close connections at every site of the zone, with the list in the log', async () => {
  const past = new Date(Date.now() - 60_000).toISOString();
  const black = list([BLOCKED, ENDED, EXEMPT, ALLOWED, '127.0.0.1'], [{ ip: ENDED, at: past }]);
  const watched = list([MONITORED]);
  const white = list([ALLOWED]);
  await edge.put(black, watched, white);
  await zoneLists(
    { id: white.id, isBlack: false },
    { id: watched.id, isBlack: true, monitor: true },
    { id: black.id, isBlack: true },
  );
  const [first, second] = [await edge.site(), await edge.site()];
  const addresses = [BLOCKED, ENDED, MONITORED, EXEMPT, ALLOWED, '127.0.0.1', OTHER];
  const answers = ['closed', 200, 200, 200, 200, 200, 200];
  expect(await visitsOf(first.name, ...addresses)).toEqual(answers);
  expect(await visitsOf(second.name, ...addresses)).toEqual(answers);
  await eventually(async () => {
    const rows = (await edge.log()).filter(
      ({ host, cause }) => host === first.name && cause !== undefined && cause !== '',
    );
    expect(rows.map(({ status, cause, rule, trail }) => ({ status, cause, rule, trail }))).toEqual(
      expect.arrayContaining([
        {
          status: 444,
          cause: 'blacklist',
          rule: black.id,
          trail: expect.stringMatching(`^[\\d.]+\\|zoneLists,444,[\\d.]+,${black.id}$`),
        },
        {
          status: 200,
          cause: 'blacklist',
          rule: `monitor/${watched.id}`,
          trail: expect.stringContaining(`|zoneLists,would,,${watched.id}`),
        },
      ]),
    );
    expect(rows).toHaveLength(2);
  });
});

test('an allow list of the zone exempts from the block lists of its sites', async () => {
  const [white, black] = [list([ALLOWED]), list([ALLOWED, OTHER])];
  await edge.put(white, black);
  const { name } = await edge.site({ lists: [{ id: black.id, isBlack: true }] });
  await zoneLists();
  expect(await visitsOf(name, ALLOWED, OTHER)).toEqual([403, 403]);
  await zoneLists({ id: white.id, isBlack: false });
  expect(await visitsOf(name, ALLOWED, OTHER)).toEqual([200, 403]);
});

test('a changed, a removed and a missing list take effect with the next request', async () => {
  const black = list([BLOCKED]);
  await edge.put(black);
  await zoneLists({ id: black.id, isBlack: true });
  const { name } = await edge.site();
  expect(await visitsOf(name, BLOCKED, OTHER)).toEqual(['closed', 200]);

  await edge.put({ ...list([OTHER]), id: black.id });
  expect(await visitsOf(name, BLOCKED, OTHER)).toEqual([200, 'closed']);

  // The lists that were in use stay until the new one is here.
  const late = list([BLOCKED]);
  await zoneLists({ id: late.id, isBlack: true });
  expect(await visitsOf(name, BLOCKED, OTHER)).toEqual([200, 'closed']);
  await edge.put(late);
  expect(await visitsOf(name, BLOCKED, OTHER)).toEqual(['closed', 200]);

  await edge.remove('zoneLists');
  expect(await visitsOf(name, BLOCKED, OTHER)).toEqual([200, 200]);
});

test('removed lists do not come back while a later list is not here', async () => {
  const black = list([BLOCKED]);
  await edge.put(black);
  await zoneLists({ id: black.id, isBlack: true });
  const { name } = await edge.site();
  expect(await visitsOf(name, BLOCKED)).toEqual(['closed']);
  await edge.remove('zoneLists');
  expect(await visitsOf(name, BLOCKED)).toEqual([200]);
  await zoneLists({ id: randomUUID(), isBlack: true });
  expect(await visitsOf(name, BLOCKED)).toEqual([200]);
  await edge.remove('zoneLists');
});

test('a simulation names the list that closes the connection, and unused lists as such', async () => {
  const black = list([BLOCKED]);
  await edge.put(black);
  await zoneLists();
  await edge.remove('zoneLists');
  const { name } = await edge.site();
  const stepOf = async (ip: string) => {
    const { steps } = await simulateRequest(edge, name, '/', { ip });
    const { decision, rule } = steps.find(({ step }) => step === 'zoneLists') ?? {};
    return { decision, rule };
  };
  expect(await stepOf(BLOCKED)).toEqual({ decision: 'unused', rule: null });
  await zoneLists({ id: black.id, isBlack: true });
  expect(await stepOf(BLOCKED)).toEqual({ decision: 'closed', rule: { kind: 'zoneList', id: black.id } });
  expect(await stepOf(OTHER)).toEqual({ decision: 'passed', rule: null });
});
