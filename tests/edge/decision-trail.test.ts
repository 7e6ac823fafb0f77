// Decisions in lines of the access log.
import { randomUUID } from 'node:crypto';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { rule, startEdge, type Reply } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** The trail without times, which differ. */
async function trail(reply: Reply) {
  const { trail: written } = await edge.accessLogEntry(reply);
  return withoutTimes(String(written));
}

const withoutTimes = (written: string) => written.replace(/^[\d.]+/, 'µs').replaceAll(/([|;]\w+,\w+,)[\d.]+/g, '$1µs');

test('a refusal names the step, the status and the rule', async () => {
  const antiHeader = {
    id: randomUUID(),
    name: 'x-robot',
    operator: 'exists' as const,
    value: '',
    action: 'deny' as const,
  };
  const { name } = await edge.site({ cacheRules: [rule()], antiHeaders: [antiHeader] });
  const refused = await edge.get('/a', { host: name, headers: { 'x-robot': '1' } });
  expect(refused.status).toBe(403);
  const { trail: written } = await edge.accessLogEntry(refused);
  expect(written).toMatch(new RegExp(`^[\\d.]+\\|antiHeader,403,[\\d.]+,${antiHeader.id}$`));
});

const listOf = (...value: string[]) => listDoc({ id: randomUUID(), value, expires: [] });
const visitFrom = (localAddress: string, host: string) => statusFrom(localAddress, edge.ports.http, host);
/** The trails of the requests of a host, as soon as there are so many. */
const trailsOf = (host: string, count: number) =>
  eventually(async () => {
    const rows = (await edge.log()).filter((row) => row['host'] === host);
    expect(rows).toHaveLength(count);
    return rows.map((row) => withoutTimes(String(row['trail'])));
  });

/** Rules about every path, each with its action. */
const aclOf = (...rules: { action: 'deny' | 'allow'; monitor: boolean }[]) => {
  const accepted = rules.map((rule) =>
    settled(
      AclRuleInput.parse({
        name: 'Rule',
        conditions: [{ field: 'path', operator: 'startsWith', value: '/' }],
        ...rule,
      }),
    ),
  );
  const doc = moduleDoc({ id: randomUUID(), kind: 'acl', settings: { rules: accepted }, redirects: null });
  return { doc, ids: accepted.map(({ id }) => id) };
};

test('each rule that only monitors keeps its note, also before a refusal', async () => {
  const black = listOf('127.0.0.0/8');
  const { doc, ids } = aclOf(
    { action: 'deny', monitor: true },
    { action: 'allow', monitor: true },
    { action: 'deny', monitor: true },
    { action: 'deny', monitor: false },
  );
  await edge.put(black, doc);
  const lists = [{ id: black.id, isBlack: true, monitor: true }];
  const { name } = await edge.site({ lists }, { modules: { acl: doc.id } });
  const notes = (...ofLists: string[]) =>
    [...ofLists, `acl,would,,${ids[0]}`, `acl,match,,${ids[1]}`, `acl,would,,${ids[2]}`, `acl,929,µs,${ids[3]}`].join(
      ';',
    );
  expect(await visitFrom('127.0.5.1', name)).toBe(929);
  expect(await trailsOf(name, 1)).toEqual([`µs|${notes(`blacklist,would,,${black.id}`)}`]);
  // The list would not refuse this address, which is always allowed.
  expect(await trail(await edge.get('/', { host: name }))).toBe(`µs|${notes()}`);
});

test('a served request keeps the notes of monitored rules and white lists beside those of its path', async () => {
  const [black, white] = [listOf('127.0.5.2'), listOf('127.0.5.2')];
  await edge.put(black, white);
  const cacheRule = rule();
  const { name } = await edge.site({
    cacheRules: [cacheRule],
    lists: [
      { id: black.id, isBlack: true, monitor: true },
      { id: white.id, isBlack: false },
    ],
  });
  // The second response comes from the cache.
  expect([await visitFrom('127.0.5.2', name), await visitFrom('127.0.5.2', name)]).toEqual([200, 200]);
  const notes = [`blacklist,would,,${black.id}`, `blacklist,white,,${white.id}`, `cache,rule,,${cacheRule.id}`];
  expect(await trailsOf(name, 2)).toEqual([`|${notes.join(';')}`, `|${notes.join(';')}`]);
});

test('sixteen of the rules that only monitor have a note', async () => {
  const { doc, ids } = aclOf(...Array.from({ length: 20 }, () => ({ action: 'deny' as const, monitor: true })));
  await edge.put(doc);
  const { name } = await edge.site({ cacheRules: [] }, { modules: { acl: doc.id } });
  const notes = ids.slice(0, 16).map((id) => `acl,would,,${id}`);
  expect(await trail(await edge.get('/', { host: name }))).toBe(`µs|${notes.join(';')};acl,pass,µs,`);
});

test('a request of a paused site names its state', async () => {
  const { name } = await edge.site({ status: 'pause' });
  expect(await trail(await edge.get('/', { host: name }))).toMatch(/^µs\|status,904,/);
});

test('a served request names the rules of its path, also from the cache', async () => {
  const [cacheRule, rate] = [rule(), { id: randomUUID(), type: 'all' as const, value: [], rate: 1 << 20, after: 0 }];
  const { name } = await edge.site({ cacheRules: [cacheRule], rates: [rate] });
  const rules = `|rates,rule,,${rate.id};cache,rule,,${cacheRule.id}`;
  for (const state of ['MISS', 'HIT']) {
    const line = await edge.accessLogEntry(await edge.get('/rules', { host: name }));
    expect([line['cache'], line['trail']]).toEqual([state, rules]);
  }
  const plain = await edge.site({ cacheRules: [] });
  expect((await edge.accessLogEntry(await edge.get('/', { host: plain.name })))['trail']).toBe('');
});

test.each([
  [undefined, '127.0.0.1', 'a=secret', 'https://from.example/page?q=private'],
  ['address', '127.0.0.0', 'a=secret', 'https://from.example/page?q=private'],
  ['query', '127.0.0.1', '', 'https://from.example/page'],
  ['both', '127.0.0.0', '', 'https://from.example/page'],
] as const)('with the mask %s the line has %s, "%s" and %s', async (logMask, address, args, referer) => {
  const { name } = await edge.site({ cacheRules: [rule()], ...(logMask && { logMask }) });
  const headers = { referer: 'https://from.example/page?q=private' };
  const reply = await edge.get('/masked?a=secret', { host: name, headers });
  expect(await edge.accessLogEntry(reply)).toMatchObject({ uri: '/masked', address, args, referer });
  // The origin still receives everything.
  expect(edge.origin.requests.at(-1)?.url).toBe('/masked?a=secret');
});
