// The block set in nginx: addresses blocked by this node, and by others through the agent.
import { appendFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Change } from '@edgeloom/agent/nginx/admin.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startEdge, zoneDoc, type Edge } from '../support/services/edge.ts';
import { freePort } from '../support/services/ports.ts';
import { statusFrom } from '../support/assertions/visit.ts';

const set = { timeout: 600, max: 1000 };
let edge: Edge;
/** Requests to this path are blocked by a plugin. */
let offenceCount = 0;
beforeAll(async () => {
  edge = await startEdge({ dicts: { blocks: '64k' } });
  offenceCount = await freePort();
  await serveWith({ ipset: set });
});
afterAll(() => edge.stop());

async function serveWith(over: Parameters<typeof zoneDoc>[1]): Promise<void> {
  const zone = zoneDoc(edge.ports, over);
  await edge.put(zone);
  await edge.render(zone);
  await appendFile(
    path.join(edge.dir, 'conf/current/admin.conf'),
    `server {
      listen 127.0.0.1:${offenceCount};
      set_real_ip_from 127.0.0.1;
      real_ip_header X-Visitor;
      set $e_site "";
      location = /offend { content_by_lua_block {
        local ok, why = require("edge.core.blocks").add("waf", tonumber(ngx.var.arg_seconds), ngx.var.arg_rule)
        ngx.print(ok and "blocked" or why)
      } }
      location = /quota { content_by_lua_block { ngx.shared.blocks:set("sites:quota:" .. ngx.var.arg_site, 1000) } }
      location = /cause { content_by_lua_block { ngx.print(require("edge.core.blocks").cause() or "none") } }
    }`,
  );
  await edge.reload();
}

const asVisitor = (at: string, visitor: string): Promise<string> =>
  fetch(`http://127.0.0.1:${offenceCount}${at}`, { headers: { 'X-Visitor': visitor } }).then((answer) => answer.text());
const sendBlockedRequest = (visitor: string) => asVisitor('/offend', visitor);
const causeOf = (visitor: string) => asVisitor('/cause', visitor);

const visitFrom = (localAddress: string, host: string) => statusFrom(localAddress, edge.ports.http, host);

const drained = () => edge.admin.fetchBlocks(1000);

test('a blocked visitor gets no response from any site, and the log has the cause; others are not affected', async () => {
  const [one, other] = [await edge.site(), await edge.site()];
  expect(await visitFrom('127.0.0.21', one.name)).toBe(200);
  await edge.admin.changeBlocks([['127.0.0.21', 60, 'antiCC']]);
  expect(await visitFrom('127.0.0.21', one.name)).toBe('closed');
  expect(await visitFrom('127.0.0.21', other.name)).toBe('closed');
  expect(await visitFrom('127.0.0.22', one.name)).toBe(200);
  const row = await eventually(async () => {
    const found = (await edge.log()).find(
      ({ address, host, status }) => address === '127.0.0.21' && host === one.name && status === 444,
    );
    if (found === undefined) throw new Error('not logged yet');
    return found;
  });
  expect(row).toMatchObject({ cause: 'antiCC', cache: '' });
  await edge.admin.changeBlocks([['127.0.0.21', 0, '']]);
  expect(await visitFrom('127.0.0.21', one.name)).toBe(200);
});

test('a rule of a site blocks for this site only, within the quota of the site', async () => {
  await drained();
  const conditions = [{ field: 'path', operator: 'equal' as const, value: '/trap', join: 'and' as const }];
  const input = AclRuleInput.parse({ name: 'Trap', conditions, action: 'blacklist' });
  const trapRule = settled(input);
  const doc = moduleDoc({ id: randomUUID(), kind: 'acl', settings: { rules: [trapRule] }, redirects: null });
  await edge.put(doc);
  const own = await edge.site({}, { modules: { acl: doc.id } });
  const other = await edge.site();
  const trap = (host: string) => statusFrom('127.0.0.25', edge.ports.http, host, '127.0.0.1', {}, '/trap');
  expect(await trap(own.name)).toBe('closed');
  expect([await visitFrom('127.0.0.25', own.name), await visitFrom('127.0.0.25', other.name)]).toEqual(['closed', 200]);
  const { found, sites } = await drained();
  expect(found).toEqual([]);
  expect(sites).toEqual([
    { network: '127.0.0.25', cause: 'acl', siteID: own.site.id, seconds: 600, rule: trapRule.id },
  ]);
  await edge.admin.changeBlocks([['127.0.0.25', 0, '', own.site.id]]);
  expect(await visitFrom('127.0.0.25', own.name)).toBe(200);
  // Beyond its quota a site closes the connection only. Other sites still block.
  await asVisitor(`/quota?site=${own.site.id}`, '127.0.0.25');
  expect([await trap(own.name), await visitFrom('127.0.0.25', own.name)]).toEqual(['closed', 200]);
  const further = await edge.site({}, { modules: { acl: doc.id } });
  expect([await trap(further.name), await visitFrom('127.0.0.25', further.name)]).toEqual(['closed', 'closed']);
});

test('an address blocked by nginx is blocked at once, reported once, and until its time is over', async () => {
  await drained();
  expect(await sendBlockedRequest('127.0.0.31')).toBe('blocked');
  // Blocked again by a request that was in flight.
  expect(await sendBlockedRequest('127.0.0.31')).toBe('blocked');
  expect(await asVisitor('/offend?seconds=30&rule=a-rule', '198.51.100.1')).toBe('blocked');
  const { name } = await edge.site();
  expect(await visitFrom('127.0.0.31', name)).toBe('closed');
  expect((await drained()).found).toEqual([
    { network: '127.0.0.31', cause: 'waf', seconds: 600 },
    { network: '198.51.100.1', cause: 'waf', seconds: 30, rule: 'a-rule' },
  ]);
  expect((await drained()).found).toEqual([]);
  expect(await visitFrom('127.0.0.31', name)).toBe('closed');
  expect(await asVisitor('/offend?seconds=1', '198.51.100.2')).toBe('blocked');
  await eventually(async () => expect(await causeOf('198.51.100.2')).toBe('none'));
});

test('reports that the agent did not store are sent to the next agent, with the remaining time', async () => {
  await edge.admin.changeBlocks([], { begins: true, mark: 'a mark' });
  const fetchReports = async (had?: 'kept' | 'lost') =>
    (await edge.admin.fetchBlocks(1000, had)).found.map(({ network }) => network);
  for (const last of [1, 2, 3]) await asVisitor(`/offend?seconds=${last * 100}`, `198.51.100.${last}`);
  expect(await fetchReports()).toEqual(['198.51.100.1', '198.51.100.2', '198.51.100.3']);
  expect(await fetchReports()).toEqual([]);
  // Unblocked, then blocked for another period.
  await edge.admin.changeBlocks([
    ['198.51.100.1', 0, ''],
    ['198.51.100.2', 50, 'manual'],
  ]);
  await sendBlockedRequest('198.51.100.4');
  const { found } = await edge.admin.fetchBlocks(1000, 'lost');
  expect(found.map(({ network }) => network)).toEqual(['198.51.100.2', '198.51.100.3', '198.51.100.4']);
  expect(found[0]?.seconds).toBeLessThanOrEqual(50);
  expect(found[1]?.seconds).toBeGreaterThan(50);
  expect(await fetchReports('kept')).toEqual([]);
  expect(await fetchReports('lost')).toEqual([]);
});

test("an IPv6 address blocks its /64, in the agent's notation", async () => {
  await drained();
  expect(await sendBlockedRequest('2001:db8:0:1:aaaa::1')).toBe('blocked');
  expect(await causeOf('2001:db8:0:1:ffff::2')).toBe('waf');
  expect(await causeOf('2001:db8:0:2::1')).toBe('none');
  expect((await drained()).found).toMatchObject([{ network: '2001:db8:0:1::/64' }]);
  await edge.admin.changeBlocks([
    ['2001:db8:ab:0::/64', 60, 'acl'],
    ['2001:db8:0:1::/64', 0, ''],
  ]);
  expect(await causeOf('2001:db8:ab::77')).toBe('acl');
  expect(await causeOf('2001:db8:0:1::1')).toBe('none');
});

test('the node itself, relays and allowed addresses are never blocked, even when blocked before', async () => {
  expect(await sendBlockedRequest('127.0.0.1')).toBe('spared');
  expect(await sendBlockedRequest('::1')).toBe('spared');
  await sendBlockedRequest('203.0.113.9');
  await sendBlockedRequest('2001:db8:9::9');
  const firewall = {
    level: 0 as const,
    whitelist: ['203.0.113.0/24', '2001:db8:9::9'],
    blacklist: [],
    synProtection: false,
  };
  const relays = [{ id: '019a0000-0000-7000-8000-000000000001', address: '198.51.100.50', port: 8443 }];
  await serveWith({ ipset: set, firewall, relays });
  for (const spared of ['203.0.113.9', '2001:db8:9::9']) expect(await causeOf(spared)).toBe('none');
  // In the same /64, but not listed.
  expect(await causeOf('2001:db8:9::8')).toBe('waf');
  for (const spared of ['203.0.113.10', '198.51.100.50']) expect(await sendBlockedRequest(spared)).toBe('spared');
  await serveWith({ ipset: set });
});

test('a reload keeps the set, and a marker shows the agent when nginx has lost it', async () => {
  await edge.admin.changeBlocks([['198.51.100.77', 600, 'acl']], { begins: true, mark: 'a mark' });
  await serveWith({ ipset: set });
  expect(await causeOf('198.51.100.77')).toBe('acl');
  expect(await drained()).toMatchObject({ mark: 'a mark' });
  await edge.restart();
  expect((await drained()).mark).toBeUndefined();
  expect(await causeOf('198.51.100.77')).toBe('none');
});

test('blocks beyond the limit or the memory are not stored but counted; none is evicted', async () => {
  await edge.admin.changeBlocks([], { begins: true, mark: 'a mark' });
  await edge.admin.fetchBlocks(2);
  const results = [];
  for (const last of [1, 2, 3]) results.push(await sendBlockedRequest(`198.51.100.${last}`));
  expect(results).toEqual(['blocked', 'blocked', 'full']);
  expect(await drained()).toMatchObject({
    found: [{ network: '198.51.100.1' }, { network: '198.51.100.2' }],
    dropped: 1,
  });
  const many = Array.from({ length: 1000 }, (_, i): Change => [`10.9.${i >> 8}.${i & 255}`, 600, 'acl']);
  await edge.admin.changeBlocks(many);
  expect((await edge.counters())['blocksFull']).toBeGreaterThan(0);
  expect(await sendBlockedRequest('198.51.100.4')).toBe('full');
  for (const address of ['198.51.100.1', '10.9.0.0', '10.9.0.9']) expect(await causeOf(address)).not.toBe('none');
  expect(await drained()).toMatchObject({ found: [], dropped: 1 });
  await edge.admin.changeBlocks([], { begins: true });
});

test('a zone without a set blocks no address', async () => {
  await edge.admin.changeBlocks([['127.0.0.41', 600, 'acl']], { begins: true });
  await serveWith({});
  const { name } = await edge.site();
  expect(await visitFrom('127.0.0.41', name)).toBe(200);
  expect(await sendBlockedRequest('127.0.0.42')).toBe('off');
});
