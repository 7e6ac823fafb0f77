import { afterAll, describe, expect, test } from 'vitest';
import { startEdge, upstream } from '../support/services/edge.ts';
import type { EdgeOptions, LuaChange } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startNameServer, type Records } from '../support/fakes/dns-server.ts';

/** An edge with a name server of its own. */
async function startResolving(
  onEnd: (stop: () => Promise<void>) => void,
  lua: LuaChange[] = [],
  options: Pick<EdgeOptions, 'zone'> = {},
) {
  const names = await startNameServer();
  onEnd(() => names.stop());
  const edge = await startEdge({ resolvers: [names.address], lua, ...options });
  onEnd(() => edge.stop());
  return { names, edge };
}
type Resolving = Awaited<ReturnType<typeof startResolving>>;

const shared = await startResolving(afterAll);
const { names } = shared;

let count = 0;
/** A site whose origin is a host name. */
async function named(records: Records | null, { names: server, edge }: Resolving = shared) {
  count += 1;
  const id = count;
  const origin = `o${id}.test`;
  if (records !== null) server.records.set(origin, records);
  const { name } = await edge.site({}, { origin: { upstreams: [upstream(edge.origin.port, { address: origin })] } });
  const asked = (kind: 'A' | 'AAAA') => server.asked.filter((question) => question === `${origin} ${kind}`).length;
  let paths = 0;
  const get = async () => (await edge.get(`/d${id}/${(paths += 1)}`, { host: name })).status;
  return { origin, asked, get };
}

test('an origin with a host name is resolved by DNS', async () => {
  const { get } = await named({ a: ['127.0.0.1'] });
  expect(await get()).toBe(200);
});

test('DNS is queried once per TTL by all workers together', async () => {
  const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 600 });
  for (let i = 0; i < 12; i += 1) expect(await get()).toBe(200);
  expect([asked('A'), asked('AAAA')]).toEqual([1, 1]);
});

test('a CNAME is followed', async () => {
  const { get } = await named({ a: ['127.0.0.1'], alias: 'other.test' });
  expect(await get()).toBe(200);
});

test('the next address is tried when one does not respond, IPv6 after IPv4', async () => {
  const { get } = await named({ a: ['127.0.0.9', '127.0.0.1'], aaaa: ['0:0:0:0:0:0:0:1'] });
  for (let i = 0; i < 4; i += 1) expect(await get()).toBe(200);
});

test('a response to another question is ignored', async () => {
  names.behave('lie');
  const { get } = await named({ a: ['127.0.0.1'] });
  expect(await get()).toBe(200);
  names.behave('answer');
});

// They wait for TTLs and timeouts.
describe.concurrent('over time', () => {
  test('after the TTL a new address is used', async () => {
    const { get, origin } = await named({ a: ['127.0.0.9'], seconds: 1 });
    expect(await get()).toBe(502);
    names.records.set(origin, { a: ['127.0.0.1'], seconds: 1 });
    await eventually(async () => expect(await get()).toBe(200));
  });

  test('an unknown name gets 502, and works once it exists', async () => {
    const { get, origin } = await named(null);
    expect(await get()).toBe(502);
    names.records.set(origin, { a: ['127.0.0.1'] });
    await eventually(async () => expect(await get()).toBe(200), { within: 15_000 });
  });

  // Regression: each of them asked.
  test('concurrent requests for a new name wait for the one that asks', async ({ onTestFinished }) => {
    const own = await startResolving(onTestFinished);
    own.names.behave('silent');
    const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 600 }, own);
    const responses = Promise.all(Array.from({ length: 20 }, get));
    await eventually(() => expect(asked('A')).toBeGreaterThan(0));
    // The second question, after a timeout, is answered.
    own.names.behave('answer');
    expect(await responses).toEqual(Array(20).fill(200));
    expect(asked('A')).toBeLessThan(20);
  });

  // Regression: each of them looked fifty times a second for as long as the lookup took.
  test('a request that waits for a new name looks for its addresses after growing pauses', async ({
    onTestFinished,
  }) => {
    const counted = {
      file: 'edge/origin/names.lua',
      from: 'sleep(pause)',
      to: 'sleep(pause) ngx.log(ngx.ERR, "poll")',
    };
    const own = await startResolving(onTestFinished, [counted]);
    own.names.behave('silent');
    const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 600 }, own);
    const responses = [get()];
    await eventually(() => expect(asked('A')).toBe(1));
    responses.push(get());
    expect(await Promise.all(responses)).toEqual([502, 502]);
    const polls = (await own.edge.errors()).split('poll').length - 1;
    expect(polls).toBeGreaterThan(0);
    // Within ten seconds, the longest wait, there are four short pauses and twenty of half a second.
    expect(polls).toBeLessThan(30);
  });

  // Regression: any number waited.
  test.for([
    ['one name', '1000, 1 / 4', '1, 1 / 4', 1],
    ['all names together', '1000, 1 / 4', '1000, 1 / 1024', 2],
  ] as const)('few requests of a worker wait for %s, and the others get 502 meanwhile', async (limits, context) => {
    const [, from, to, names] = limits;
    const file = 'edge/origin/names.lua';
    const lua = [
      { file, from, to },
      // The name server answers before the second question, also on a busy machine.
      { file, from: 'TIMEOUT_MS = 2000', to: 'TIMEOUT_MS = 8000' },
      { file, from: 'MAX_REFRESH_SECONDS = 10', to: 'MAX_REFRESH_SECONDS = 60' },
    ];
    const zone = { worker: { processes: 1, connections: 1024 } };
    const own = await startResolving(context.onTestFinished, lua, { zone });
    own.names.behave('silent');
    const origins = await Promise.all(
      Array.from({ length: names }, () => named({ a: ['127.0.0.1'], seconds: 600 }, own)),
    );
    const first = origins.map(({ get }) => get());
    await eventually(() => expect(origins.map(({ asked }) => asked('A'))).toEqual(origins.map(() => 1)));
    const others = [...origins, ...origins].slice(0, 2).map(({ get }) => get());
    expect(await Promise.race(others)).toBe(502);
    // The second question, after a timeout, is answered.
    own.names.behave('answer');
    expect(await Promise.all(first)).toEqual(first.map(() => 200));
    expect((await Promise.all(others)).sort()).toEqual([200, 502]);
  });

  // Regression: the entry was gone, so each of them asked and waited.
  test('a name without addresses is asked for again by one request, while others get 502', async ({
    onTestFinished,
  }) => {
    const sooner = { file: 'edge/origin/names.lua', from: 'NEGATIVE_TTL_SECONDS = 5', to: 'NEGATIVE_TTL_SECONDS = 1' };
    const own = await startResolving(onTestFinished, [sooner]);
    own.names.behave('silent');
    const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 600 }, own);
    expect(await get()).toBe(502);
    const before = asked('A');
    const responses: Promise<number>[] = [];
    await eventually(() => {
      responses.push(get());
      expect(asked('A')).toBeGreaterThan(before);
    });
    expect(await get()).toBe(502);
    // The second question, after a timeout, is answered.
    own.names.behave('answer');
    expect(await Promise.all(responses)).toContain(200);
    expect(asked('A')).toBe(before + 2);
  });

  test.for(['silent', 'fail', 'failForIPv4'] as const)(
    'the last known addresses are used when DNS fails: %s',
    async (behaviour, { onTestFinished }) => {
      const own = await startResolving(onTestFinished);
      const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 1 }, own);
      expect(await get()).toBe(200);
      own.names.behave(behaviour);
      const before = asked('A');
      await eventually(async () => {
        expect(await get()).toBe(200);
        expect(asked('A')).toBeGreaterThan(before);
      });
      for (let i = 0; i < 4; i += 1) expect(await get()).toBe(200);
      await eventually(async () => expect((await own.edge.counters())['nameFailed']).toBeGreaterThan(0));
    },
  );

  // Regression: the addresses of the other family replaced them.
  test('a family that DNS fails for keeps its addresses', async ({ onTestFinished }) => {
    const own = await startResolving(onTestFinished);
    const { get, origin, asked } = await named({ a: ['127.0.0.1'], seconds: 1 }, own);
    expect(await get()).toBe(200);
    own.names.behave('failForIPv4');
    own.names.records.set(origin, { a: ['127.0.0.1'], aaaa: ['0:0:0:0:0:0:0:1'], seconds: 600 });
    const before = asked('AAAA');
    await eventually(async () => {
      expect(await get()).toBe(200);
      expect(asked('AAAA')).toBeGreaterThan(before);
    });
    for (let i = 0; i < 4; i += 1) expect(await get()).toBe(200);
  });

  // Regression: a family without an answer renewed the addresses of the other one.
  test('a family whose addresses were removed loses them, also while DNS fails for the other', async ({
    onTestFinished,
  }) => {
    const own = await startResolving(onTestFinished);
    const { get, origin } = await named({ a: ['127.0.0.1'], seconds: 1 }, own);
    expect(await get()).toBe(200);
    own.names.behave('failForIPv6');
    own.names.records.set(origin, { seconds: 1 });
    await eventually(async () => expect(await get()).toBe(502));
  });

  test('the next DNS server is queried when the first does not respond', async ({ onTestFinished }) => {
    const silent = await startNameServer();
    onTestFinished(() => silent.stop());
    silent.behave('fail');
    const other = await startEdge({ resolvers: [silent.address, names.address] });
    onTestFinished(() => other.stop());
    names.records.set('second.test', { a: ['127.0.0.1'] });
    const { name } = await other.site(
      {},
      { origin: { upstreams: [upstream(other.origin.port, { address: 'second.test' })] } },
    );
    expect((await other.get('/', { host: name })).status).toBe(200);
  });

  test('a name that changes to a denied address is not used', async ({ onTestFinished }) => {
    const guarded = await startEdge({
      resolvers: [names.address],
      zone: { originPolicy: { deny: ['127.0.0.0/8', '::1/128', '10.0.0.0/8'], allow: ['127.0.0.1/32'] } },
    });
    onTestFinished(() => guarded.stop());
    names.records.set('rebind.test', { a: ['127.0.0.1'], seconds: 1 });
    const { name } = await guarded.site(
      {},
      { origin: { upstreams: [upstream(guarded.origin.port, { address: 'rebind.test' })] } },
    );
    expect((await guarded.get('/1', { host: name })).status).toBe(200);
    names.records.set('rebind.test', { a: ['127.0.0.2'], aaaa: ['0:0:0:0:0:0:0:1'], seconds: 1 });
    let i = 1;
    await eventually(async () => expect((await guarded.get(`/${(i += 1)}`, { host: name })).status).toBe(502));
    expect((await guarded.counters())['originRefused']).toBeGreaterThan(0);
    // Only allowed addresses of a name are used.
    names.records.set('rebind.test', { a: ['10.1.2.3', '127.0.0.1'], seconds: 1 });
    await eventually(async () => expect((await guarded.get(`/${(i += 1)}`, { host: name })).status).toBe(200));
  });
});

describe.concurrent('entries of the dictionary', () => {
  /** Before each look at the status, `code` runs for the entry of each origin. */
  const atStatus = (code: string): LuaChange => ({
    file: 'edge/admin.lua',
    from: 'counters = counters.all(),',
    to: `counters = (function(names)
      local counted = counters.all()
      for _, name in ipairs(names:get_keys()) do
        if name:find("^o%d+%.test$") then
          ${code}
        end
      end
      return counted
    end)(require("edge.core.dicts").names),`,
  });

  // Regression: an earlier release failed on an entry of a later one after a rollback.
  test('consist of one time and the addresses, which earlier releases read', async ({ onTestFinished }) => {
    const isEntry = 'names:get(name):find("^[%d.]+|127%.0%.0%.1$") ~= nil';
    const own = await startResolving(onTestFinished, [atStatus(`counted.entries = ${isEntry} and 1 or 0`)]);
    const { get } = await named({ a: ['127.0.0.1'] }, own);
    expect(await get()).toBe(200);
    expect((await own.edge.counters())['entries']).toBe(1);
  });

  // Regression: the first kind, which a release wrote for some minutes, failed each request of the name. The second
  // kind was taken for too old.
  test.for([
    ['with two times', '1.000 2.000|127.0.0.1'],
    ['that an earlier release wrote after a rollback', '1|127.0.0.1'],
  ])('%s serve while DNS fails', async ([, entry], { onTestFinished }) => {
    const own = await startResolving(onTestFinished, [
      atStatus(`names:set(name, "${entry}", 3600) names:set("usable|" .. name, 1)`),
    ]);
    const { get, asked } = await named({ a: ['127.0.0.1'], seconds: 600 }, own);
    expect(await get()).toBe(200);
    await own.edge.counters();
    own.names.behave('fail');
    const before = asked('A');
    await eventually(async () => {
      expect(await get()).toBe(200);
      expect(asked('A')).toBeGreaterThan(before);
    });
    for (let i = 0; i < 4; i += 1) expect(await get()).toBe(200);
  });
});
