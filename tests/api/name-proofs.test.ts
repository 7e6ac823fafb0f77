// A name that overlaps another customer's name requires verification in DNS, however the name is created.
import { afterAll, describe, expect, test } from 'vitest';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { nameServerHost, startNameServer } from '../support/fakes/dns-server.ts';
import { testApp } from '../support/services/app.ts';
import { checkDueProofs, lookFor, openProofs, sweepProofs } from '../support/services/background-work.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const resolver = await startNameServer();
const authority = await startNameServer(undefined, { host: nameServerHost(), port: 53 });
resolver.records.set('ns.provider.test', { a: [authority.address.replace(/:\d+$/, '')] });
const { as, build, installation, close } = await testApp({
  DNS_RESOLVERS: resolver.address,
  ORIGIN_ALLOW: '127.0.0.0/8',
});
const { db, pool } = installation;
afterAll(async () => {
  await close();
  await Promise.all([resolver.stop(), authority.stop()]);
});

const upstreams = [{ address: '192.0.2.10' }];
/** A new zone that is delegated to the DNS server. */
function zoneName() {
  const zone = `${unique('zone')}.example`;
  resolver.records.set(zone, { ns: ['ns.provider.test'] });
  return zone;
}
const record = (name: string) => `_edgeloom-challenge.${name}`;
const show = (name: string, ...txt: string[]) => authority.records.set(record(name), { txt });

async function add(site: BuiltSite, ...names: string[]) {
  const body = { names, upstreams };
  const { ids, waiting } = await as(site.owner).call(domains.createSimple, { params: site.params, body });
  return { id: ids[0] ?? '', ids, waiting };
}
const find = (site: BuiltSite, domainId: string) =>
  as(site.owner).call(domains.get, { params: { ...site.params, domainId } });
const turn = (site: BuiltSite, enabled: boolean, ...ids: string[]) =>
  as(site.owner).call(domains.status, { params: site.params, body: { ids, enabled } });
async function look(site: BuiltSite, ...ids: string[]) {
  const { data } = await as(site.owner).call(domains.checkProof, { params: site.params, body: { ids } });
  return data[0]?.proof ?? null;
}
async function tokenOf(site: BuiltSite, id: string) {
  return (await find(site, id)).proof?.value ?? '';
}
/** Resolves when a session waits for a lock in a statement that contains this text. */
const isBlocked = (statement: string) =>
  eventually(async () => {
    const { rows } = await pool.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rows.filter(({ query }) => query.includes(statement))).not.toEqual([]);
  });
const unproven = (name: string) => ({ errorData: [{ path: 'ids.0', rule: 'nameProof', targets: [name] }] });

describe('a name', () => {
  test.each([
    ['under a wildcard', '*.', 'login.'],
    ['of a wildcard over it', 'shop.', '*.'],
    ['under a name', '', 'login.'],
    ['above a name', 'shop.', ''],
    ['deep below a wildcard', '*.', 'a.b.'],
    ['beside the wildcard of the same name', '*.', ''],
  ])('%s of another customer waits for verification', async (_, theirs, mine) => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    expect(await add(owner, theirs + zone)).toMatchObject({ waiting: [] });
    const name = mine + zone;
    const { id, waiting } = await add(other, name);
    expect(waiting).toEqual([name]);
    const base = name.replace(/^\*\./, '');
    expect(await find(other, id)).toMatchObject({
      status: 0,
      proof: { record: record(base), value: expect.stringMatching(/^[\w-]{43}$/), state: 'waiting', outcome: null },
    });
    await expect(turn(other, true, id)).toFail('NAME_UNPROVEN', unproven(name));
    expect(await outboxKeys(installation, other.zoneId)).toEqual([]);
  });

  test('of another customer of the same operator needs verification, too', async () => {
    const zone = zoneName();
    const owner = await build.site();
    const neighbour = await build.site({ product: owner.product });
    await add(owner, `*.${zone}`);
    expect(await add(neighbour, `login.${zone}`)).toMatchObject({ waiting: [`login.${zone}`] });
  });

  test('beside, below and above names of the same customer needs none', async () => {
    const zone = zoneName();
    const site = await build.site();
    const second = await build.site({ product: site.product, owner: site.owner });
    await add(site, `*.${zone}`);
    expect(await add(second, `login.${zone}`, zone)).toMatchObject({ waiting: [] });
    const other = await build.site();
    expect(await add(other, `one.${zone}x`)).toMatchObject({ waiting: [] });
    expect(await add(await build.site(), `two.${zone}x`)).toMatchObject({ waiting: [] });
  });

  test('does not reveal whose name overlaps', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    const shown = JSON.stringify(await find(other, id));
    for (const secret of [owner.id, owner.owner.id, owner.clientId, owner.name, `*.${zone}`])
      expect(shown).not.toContain(secret);
  });
});

describe('verification', () => {
  test("is the account's token at the zone's DNS servers; then the name can be enabled", async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    expect(await look(other, id)).toMatchObject({ state: 'waiting', outcome: 'missing', seen: [] });
    show(`login.${zone}`, 'something else');
    expect(await look(other, id)).toMatchObject({ outcome: 'other', seen: ['something else'] });
    show(`login.${zone}`, 'something else', await tokenOf(other, id));
    expect(await look(other, id)).toMatchObject({ state: 'proven', outcome: 'shown', seen: [], nextLookAt: null });
    await turn(other, true, id);
    expect(await find(other, id)).toMatchObject({ status: 1, proof: null });
    // The customer keeps the name without the record, and while the site is paused.
    show(`login.${zone}`);
    await db.nameProof.updateMany({ where: { name: `login.${zone}` }, data: { provenAt: new Date(0) } });
    await turn(other, false, id);
    await turn(other, true, id);
  });

  test('of a wildcard is that of the name below the star', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `shop.${zone}`);
    const { id } = await add(other, `*.${zone}`);
    show(zone, await tokenOf(other, id));
    expect(await look(other, id)).toMatchObject({ record: record(zone), state: 'proven' });
    await turn(other, true, id);
  });

  test('of another account does not count, nor an alias to a foreign record', async () => {
    const zone = zoneName();
    const [owner, other, thief] = [await build.site(), await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const [{ id }, stolen] = [await add(other, `login.${zone}`), await add(thief, `login.${zone}`)];
    show(`login.${zone}`, await tokenOf(other, id));
    expect(await look(thief, stolen.id)).toMatchObject({ state: 'waiting', outcome: 'other' });
    await expect(turn(thief, true, stolen.id)).toFail('NAME_UNPROVEN', unproven(`login.${zone}`));
    authority.records.set(record(`login.${zone}`), { alias: 'thief.test', txt: [await tokenOf(thief, stolen.id)] });
    expect(await look(thief, stolen.id)).toMatchObject({ state: 'waiting', outcome: 'missing' });
  });

  test('uses one token for all names of an account, and different tokens per account', async () => {
    const zone = zoneName();
    const [owner, other, stranger] = [await build.site(), await build.site(), await build.site()];
    await add(owner, zone);
    const [one, two, third] = [
      await add(other, `a.${zone}`),
      await add(other, `b.${zone}`),
      await add(stranger, `c.${zone}`),
    ];
    expect(await tokenOf(other, one.id)).toBe(await tokenOf(other, two.id));
    const strange = await tokenOf(stranger, third.id);
    expect(strange).toMatch(/^[\w-]{43}$/);
    expect(strange).not.toBe(await tokenOf(other, one.id));
  });

  test('expires if the name is not enabled within a week', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    show(`login.${zone}`, await tokenOf(other, id));
    await look(other, id);
    await db.nameProof.updateMany({
      where: { name: `login.${zone}` },
      data: { provenAt: new Date(Date.now() - 8 * 86_400_000) },
    });
    expect(await find(other, id)).toMatchObject({ proof: { state: 'waiting' } });
    await expect(turn(other, true, id)).toFail('NAME_UNPROVEN', unproven(`login.${zone}`));
  });

  test('is no longer needed once nothing overlaps, and the name can be enabled', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    const theirs = await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    expect(await find(other, id)).toMatchObject({ proof: { state: 'waiting' } });
    await turn(owner, false, theirs.id);
    expect(await find(other, id)).toMatchObject({ proof: { state: 'waiting' } });
    await as(owner.owner).call(domains.remove, { params: owner.params, body: { ids: theirs.ids } });
    expect(await find(other, id)).toMatchObject({ status: 0, proof: null });
    const list = await as(other.owner).call(domains.list, { params: other.params });
    expect(list.data).toMatchObject([{ id, proof: null }]);
    expect(await look(other, id)).toBeNull();
    await turn(other, true, id);
  });

  test('that succeeded and is no longer needed is hidden', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    const theirs = await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    show(`login.${zone}`, await tokenOf(other, id));
    expect(await look(other, id)).toMatchObject({ state: 'proven' });
    await turn(owner, false, theirs.id);
    await as(owner.owner).call(domains.remove, { params: owner.params, body: { ids: theirs.ids } });
    expect(await find(other, id)).toMatchObject({ proof: null });
    await turn(other, true, id);
  });

  test('of an enabled name, or one that needs none, is not checked again', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    show(`login.${zone}`, await tokenOf(other, id));
    await look(other, id);
    await turn(other, true, id);
    show(`login.${zone}`);
    const proof = () => db.nameProof.findFirstOrThrow({ where: { name: `login.${zone}` } });
    const before = await proof();
    expect(before).toMatchObject({ dueAt: null, outcome: 'shown' });
    expect(await look(other, id)).toBeNull();
    expect(await proof()).toEqual(before);
  });

  test('is checked by the job, with growing intervals', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    const pause = async () => {
      await db.nameProof.updateMany({ where: { name: `login.${zone}` }, data: { dueAt: new Date(0) } });
      await checkDueProofs(installation);
      const { proof } = await find(other, id);
      return Date.parse(proof?.nextLookAt ?? '') - Date.parse(proof?.lookedAt ?? '');
    };
    expect(await pause()).toBe(60_000);
    expect(await pause()).toBe(120_000);
    expect(await pause()).toBe(240_000);
    show(`login.${zone}`, await tokenOf(other, id));
    expect(await pause()).toBeNaN();
    expect(await find(other, id)).toMatchObject({ proof: { state: 'proven', outcome: 'shown' } });
  });

  test("of thousands of names of one customer does not delay another customer's", async () => {
    const zone = zoneName();
    const [owner, other, many] = [await build.site(), await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const names = Array.from({ length: 60 }, (_, i) => `n${i}.${zone}`);
    await add(many, ...names);
    const { id } = await add(other, `login.${zone}`);
    const due = (holderId: string, dueAt: Date) => db.nameProof.updateMany({ where: { holderId }, data: { dueAt } });
    await due(many.owner.id, new Date(0));
    await due(other.owner.id, new Date(1000));
    await checkDueProofs(installation);
    expect(await find(other, id)).toMatchObject({ proof: { outcome: 'missing' } });
    const looked = { holderId: many.owner.id, lookedAt: { not: null } };
    expect(await db.nameProof.count({ where: looked })).toBe(5);
    // Repeated runs check all of them.
    while ((await checkDueProofs(installation)) > 0);
    expect(await db.nameProof.count({ where: looked })).toBe(60);
  });

  test('is deleted with the last domain of its name, unless it succeeded within a week', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, zone);
    const [kept, gone, proven] = [
      await add(other, `a.${zone}`),
      await add(other, `b.${zone}`),
      await add(other, `c.${zone}`),
    ];
    show(`c.${zone}`, await tokenOf(other, proven.id));
    await look(other, proven.id);
    const ids = [...gone.ids, ...proven.ids];
    await as(other.owner).call(domains.remove, { params: other.params, body: { ids } });
    const left = async () => {
      await sweepProofs(installation);
      const where = { holderId: other.owner.id };
      return (await db.nameProof.findMany({ where, orderBy: { name: 'asc' } })).map(({ name }) => name);
    };
    expect(await left()).toEqual([`a.${zone}`, `c.${zone}`]);
    await db.nameProof.updateMany({
      where: { holderId: other.owner.id },
      data: { askedAt: new Date(0), provenAt: new Date(0) },
    });
    expect(await left()).toEqual([`a.${zone}`]);
    expect(await find(other, kept.id)).toMatchObject({ proof: { state: 'waiting' } });
  });

  test('of an enabled name is deleted after a week', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { id } = await add(other, `login.${zone}`);
    show(`login.${zone}`, await tokenOf(other, id));
    await look(other, id);
    await turn(other, true, id);
    const where = { name: `login.${zone}` };
    await sweepProofs(installation);
    expect(await db.nameProof.count({ where })).toBe(1);
    await db.nameProof.updateMany({ where, data: { provenAt: new Date(Date.now() - 8 * 86_400_000) } });
    await sweepProofs(installation);
    expect(await db.nameProof.count({ where })).toBe(0);
  });
});

describe('every way to create a name', () => {
  /** A zone under another customer's wildcard, and a site of a second customer. */
  async function covered() {
    const zone = zoneName();
    await add(await build.site(), `*.${zone}`);
    return { zone, site: await build.site() };
  }

  test('single names, mixed lists and clones require verification', async () => {
    const { zone, site } = await covered();
    const { call } = as(site.owner);
    const free = `${unique('free')}.example.org`;
    const { params } = site;
    const list = [
      { name: `a.${zone}`, upstreams },
      { name: free, upstreams },
    ];
    const made = await call(domains.create, { params, body: { domains: list } });
    expect(made.waiting).toEqual([`a.${zone}`]);
    expect(await find(site, made.ids[1] ?? '')).toMatchObject({ name: free, status: 1, proof: null });
    const body = { sourceDomainID: made.ids[1] ?? '', names: [`b.${zone}`] };
    expect(await call(domains.createFrom, { params, body })).toMatchObject({ waiting: [`b.${zone}`] });
  });

  test('a copy to another site and an API token cannot bypass verification', async () => {
    const { zone, site } = await covered();
    const second = await build.site({ product: site.product, owner: site.owner });
    const { ids } = await add(site, `a.${zone}`);
    const body = { ids, targetSiteID: second.id };
    const copied = await as(site.owner).call(domains.copyToSite, { params: site.params, body });
    await expect(turn(second, true, copied.ids[0] ?? '')).toFail('NAME_UNPROVEN', unproven(`a.${zone}`));
    const { refreshToken: token } = await as(site.owner).call(apiTokens.create, {
      body: { name: unique('token'), permissions: ['domain:read', 'domain:write'] },
    });
    const call = as({ ...site.owner, token }).call(domains.status, {
      params: site.params,
      body: { ids, enabled: true },
    });
    await expect(call).toFail('NAME_UNPROVEN', unproven(`a.${zone}`));
  });

  test('several names enabled at once are all reported', async () => {
    const { zone, site } = await covered();
    const { ids } = await add(site, `a.${zone}`, `b.${zone}`);
    await expect(turn(site, true, ...ids)).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 101_003, rule: 'nameProof', targets: expect.arrayContaining([`a.${zone}`, `b.${zone}`]) }],
    });
  });

  test("an operator's own site requires verification, too", async () => {
    const { zone } = await covered();
    const site = await build.site();
    await db.site.update({ where: { id: site.id }, data: { ownerId: null } });
    const client = { params: site.params, body: { names: [`a.${zone}`], upstreams } };
    expect(await as(site.client).call(domains.createSimple, client)).toMatchObject({ waiting: [`a.${zone}`] });
  });

  test('a version with a name that now overlaps is not restored', async () => {
    const zone = zoneName();
    const [site, other] = [await build.site(), await build.site()];
    const { id } = await add(site, `login.${zone}`);
    await turn(site, false, id);
    await as(site.owner).call(domains.remove, { params: site.params, body: { ids: [id] } });
    await add(other, `*.${zone}`);
    const back = as(site.owner).call(versions.rollback, {
      params: { ...site.params, version: 1 },
      body: { reason: '' },
    });
    await expect(back).toFail('MULTIPLE', {
      status: 409,
      errorData: [{ code: 101_003, rule: 'nameProof', targets: [`login.${zone}`] }],
    });
    expect(await db.domain.count({ where: { siteId: site.id } })).toBe(0);
  });

  test('a site that moves to another customer takes its names along', async () => {
    const zone = zoneName();
    const site = await build.site();
    const buyer = await build.user(site.product);
    await add(site, `login.${zone}`);
    await as(site.client).call(clientSites.update, { body: { id: site.id, userID: buyer.id } });
    const own = await build.site({ product: site.product, owner: buyer });
    expect(await add(own, `*.${zone}`)).toMatchObject({ waiting: [] });
    const former = await build.site({ product: site.product, owner: site.owner });
    expect(await add(former, `a.${zone}`)).toMatchObject({ waiting: [`a.${zone}`] });
  });
});

describe('a name on two sites of a customer, one of which moves to another customer', () => {
  async function twoSites() {
    const name = `shop.${zoneName()}`;
    const stays = await build.site();
    const moves = await build.site({ product: stays.product, owner: stays.owner });
    const buyer = await build.user(stays.product);
    const [kept] = (await add(stays, name)).ids;
    await turn(stays, false, kept ?? '');
    const [moved] = (await add(moves, name)).ids;
    await turn(moves, false, moved ?? '');
    const move = () => as(stays.client).call(clientSites.update, { body: { id: moves.id, userID: buyer.id } });
    const claims = async () =>
      (await db.nameClaim.findMany({ where: { name } })).map(({ domainId, holderId }) => [domainId, holderId]);
    return {
      name,
      stays,
      moves: { ...moves, owner: buyer },
      buyer,
      kept: kept ?? '',
      moved: moved ?? '',
      move,
      claims,
    };
  }

  test('stays with the customer who has it enabled, through a pause', async () => {
    const { name, stays, moves, kept, moved, move, claims } = await twoSites();
    await turn(stays, true, kept);
    await move();
    expect(await claims()).toEqual([[kept, stays.owner.id]]);
    await turn(stays, false, kept);
    await expect(turn(moves, true, moved)).toFail('NAME_UNPROVEN', unproven(name));
    await turn(stays, true, kept);
  });

  test('moves with the site that has it enabled, and the former customer needs verification', async () => {
    const { name, stays, moves, buyer, kept, moved, move, claims } = await twoSites();
    await turn({ ...moves, owner: stays.owner }, true, moved);
    await move();
    expect(await claims()).toEqual([[moved, buyer.id]]);
    await turn(moves, false, moved);
    await expect(turn(stays, true, kept)).toFail('NAME_UNPROVEN', unproven(name));
    await turn(moves, true, moved);
  });

  test('stays with the former customer if disabled on both', async () => {
    const { name, stays, moves, kept, moved, move, claims } = await twoSites();
    await move();
    expect(await claims()).toEqual([[kept, stays.owner.id]]);
    await expect(turn(moves, true, moved)).toFail('NAME_UNPROVEN', unproven(name));
    await turn(stays, true, kept);
  });

  test('keeps both claims when one statement moves both sites', async () => {
    const { stays, moves, buyer, kept, moved, claims } = await twoSites();
    await turn(stays, true, kept);
    await db.site.updateMany({ where: { id: { in: [stays.id, moves.id] } }, data: { ownerId: buyer.id } });
    expect(Object.fromEntries(await claims())).toEqual({ [kept]: buyer.id, [moved]: buyer.id });
  });

  test('belongs to the holder of its site when enabled during the move', async () => {
    const { stays, moves, buyer, kept, moved, claims } = await twoSites();
    await as(stays.owner).call(domains.remove, { params: stays.params, body: { ids: [kept] } });
    await db.nameClaim.deleteMany({ where: { domainId: moved } });
    const [turning, moving] = [await pool.connect(), await pool.connect()];
    try {
      await turning.query('BEGIN');
      await turning.query('UPDATE domains SET enabled = true WHERE id = $1', [moved]);
      const move = moving.query('UPDATE sites SET owner_id = $2 WHERE id = $1', [moves.id, buyer.id]);
      await Promise.race([move, isBlocked('UPDATE sites SET owner_id')]);
      await turning.query('COMMIT');
      await move;
    } finally {
      turning.release();
      moving.release();
    }
    expect(await claims()).toEqual([[moved, buyer.id]]);
  });

  test("loses an older claim when another customer's verified name is enabled", async () => {
    const { name, stays, kept, moved } = await twoSites();
    const stranger = await build.site();
    await db.nameClaim.delete({ where: { domainId: moved } });
    const stale = { holderId: stranger.owner.id, zoneId: stranger.zoneId };
    await db.nameClaim.update({ where: { domainId: kept }, data: stale });
    await db.nameProof.create({ data: { holderId: stays.owner.id, name, provenAt: new Date() } });
    await turn(stays, true, kept);
    expect(await db.nameClaim.findMany({ where: { name } })).toMatchObject([
      { domainId: kept, holderId: stays.owner.id, zoneId: stays.zoneId, enabled: true },
    ]);
  });
});

describe('concurrent writes of verifications', () => {
  /** Five waiting names whose table and index order is the reverse of their ids. */
  async function fiveProofs() {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    await add(owner, `*.${zone}`);
    const { ids } = await add(other, ...Array.from({ length: 5 }, (_, i) => `n${i}.${zone}`));
    const holderId = other.owner.id;
    const { token } = await db.proofToken.findUniqueOrThrow({ where: { holderId } });
    const before = await db.nameProof.findMany({ where: { holderId }, orderBy: { name: 'asc' } });
    await db.nameProof.deleteMany({ where: { holderId } });
    const last = before.map(({ id }) => id).toSorted();
    const rows = before.map(({ name }) => ({ id: last.pop() ?? '', holderId, name }));
    for (const data of rows) await db.nameProof.create({ data });
    return { other, ids, proofs: rows.map(({ id, name }) => ({ id, name, token })) };
  }

  /** How many of the other rows are locked while another session holds the lowest id. */
  async function lockedBeforeLowest(proofs: { id: string }[], statement: string, work: () => Promise<unknown>) {
    const [lowest = '', ...others] = proofs.map(({ id }) => id).toSorted();
    const session = await pool.connect();
    try {
      await session.query('BEGIN');
      await session.query('SELECT FROM name_proofs WHERE id = $1 FOR UPDATE', [lowest]);
      const done = work();
      await Promise.race([done, isBlocked(statement)]);
      const free = 'SELECT id FROM name_proofs WHERE id = ANY($1::uuid[]) FOR UPDATE SKIP LOCKED';
      const { rows } = await session.query(free, [others]);
      await session.query('COMMIT');
      await done;
      return others.length - rows.length;
    } finally {
      session.release();
    }
  }

  test('lock rows in the order of their ids when a result is stored', async () => {
    const { proofs } = await fiveProofs();
    const store = () => lookFor(installation, proofs);
    expect(await lockedBeforeLowest(proofs, 'UPDATE name_proofs', store)).toBe(0);
  });

  test('lock rows in the order of their ids when a check is requested', async () => {
    const { proofs, other, ids } = await fiveProofs();
    const check = () => look(other, ...ids);
    expect(await lockedBeforeLowest(proofs, 'UPDATE name_proofs', check)).toBe(0);
  });

  test('insert rows in the order of the names', async () => {
    const zone = zoneName();
    const site = await build.site();
    const insert = 'INSERT INTO name_proofs (holder_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING';
    const session = await pool.connect();
    try {
      await session.query('BEGIN');
      await session.query(insert, [site.owner.id, `a.${zone}`]);
      const done = openProofs(installation, site.id, [`b.${zone}`, `a.${zone}`]);
      await Promise.race([done, isBlocked('INSERT INTO name_proofs')]);
      await session.query(insert, [site.owner.id, `b.${zone}`]);
      await session.query('COMMIT');
      await done;
    } finally {
      session.release();
    }
    expect(await db.nameProof.count({ where: { holderId: site.owner.id } })).toBe(2);
  });
});

describe('a disabled name', () => {
  test('still requires verification by others, which takes the name over', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    const mine = await add(owner, `shop.${zone}`);
    await turn(owner, false, mine.id);
    const { id } = await add(other, `shop.${zone}`);
    await expect(turn(other, true, id)).toFail('NAME_UNPROVEN', unproven(`shop.${zone}`));
    show(`shop.${zone}`, await tokenOf(other, id));
    await look(other, id);
    await turn(other, true, id);
    await turn(other, false, id);
    await expect(turn(owner, true, mine.id)).toFail('NAME_UNPROVEN', unproven(`shop.${zone}`));
  });

  test('that was removed requires nothing', async () => {
    const zone = zoneName();
    const [owner, other] = [await build.site(), await build.site()];
    const { ids } = await add(owner, `shop.${zone}`);
    await turn(owner, false, ...ids);
    await as(owner.owner).call(domains.remove, { params: owner.params, body: { ids } });
    expect(await add(other, `*.${zone}`)).toMatchObject({ waiting: [] });
  });
});

describe('concurrent creation', () => {
  const insert = `INSERT INTO domains (id, site_id, name, enabled, updated_at) VALUES (gen_random_uuid(), $1, $2, true, now())`;

  test.each([
    ['*.', 'login.'],
    ['login.', '*.'],
  ])('of %s and %s in one zone: the database accepts one', async (first, second) => {
    const zone = zoneName();
    const sites = [await build.site(), await build.site()];
    const [one, two] = [await pool.connect(), await pool.connect()];
    try {
      await one.query('BEGIN');
      await two.query('BEGIN');
      await one.query(insert, [sites[0]?.id, first + zone]);
      // Neither transaction sees the other's row.
      const { rows } = await two.query('SELECT * FROM unproven_names($1, $2)', [sites[1]?.id, [second + zone]]);
      expect(rows).toEqual([]);
      const late = two.query(insert, [sites[1]?.id, second + zone]).catch((error: unknown) => error);
      await one.query('COMMIT');
      expect(await late).toMatchObject({ code: '23505', constraint: 'unproven_name' });
      await two.query('ROLLBACK');
    } finally {
      one.release();
      two.release();
    }
    expect(await db.nameClaim.findMany({ where: { base: { endsWith: zone } } })).toMatchObject([
      { name: first + zone },
    ]);
  });

  test('by API calls: one name is enabled, the other waits', async () => {
    const sites = [await build.site(), await build.site()] as const;
    for (let round = 0; round < 10; round += 1) {
      const zone = zoneName();
      const made = await Promise.all([add(sites[0], `*.${zone}`), add(sites[1], `login.${zone}`)]);
      expect(made.flatMap(({ waiting }) => waiting)).toHaveLength(1);
      expect(await db.domain.count({ where: { name: { endsWith: zone }, enabled: true } })).toBe(1);
    }
  });
});

describe('an operator that requires verification of every name', () => {
  test('enables it by its setting, which is off by default', async () => {
    const site = await build.site();
    const { call } = as(site.client);
    expect(await call(nameProofSetting.get)).toEqual({ everyName: false });
    const before = await add(site, `${unique('old')}.example.org`);
    expect(await call(nameProofSetting.update, { body: { everyName: true } })).toEqual({ everyName: true });
    expect(await call(nameProofSetting.get)).toEqual({ everyName: true });
    const zone = zoneName();
    const { id, waiting } = await add(site, zone);
    expect(waiting).toEqual([zone]);
    show(zone, await tokenOf(site, id));
    await look(site, id);
    await turn(site, true, id);
    // A name that was enabled before needs no proof.
    await turn(site, false, before.id);
    await turn(site, true, before.id);
    expect(await add(await build.site(), `${unique('free')}.example.org`)).toMatchObject({ waiting: [] });
    // With the setting off, a name needs no proof once another domain stops waiting.
    const late = await add(site, `${unique('late')}.example.org`);
    expect(await find(site, late.id)).toMatchObject({ status: 0, proof: { state: 'waiting' } });
    await call(nameProofSetting.update, { body: { everyName: false } });
    expect(await find(site, late.id)).toMatchObject({ status: 0, proof: null });
    await turn(site, true, late.id);
  });
});

describe('a public suffix', () => {
  test.each(['co.uk', '*.co.uk', 'github.io', '*.github.io', '*.com.tw', 'kawasaki.jp', '*.kawasaki.jp'])(
    '%s is rejected',
    async (name) => {
      const site = await build.site();
      await expect(add(site, name)).toFail('PUBLIC_SUFFIX', {
        errorData: [{ rule: 'publicSuffix', targets: [name] }],
      });
      const { data } = await as(site.owner).call(domains.refusals, { params: site.params, body: { names: [name] } });
      expect(data).toEqual([{ name, code: 101_003, rule: 'publicSuffix' }]);
      const row = await build.domain({ site, name, enabled: false });
      await expect(turn(site, true, row.id)).toFail('PUBLIC_SUFFIX', {
        errorData: [{ path: 'ids.0', rule: 'publicSuffix', targets: [name] }],
      });
    },
  );

  test('that was enabled before stays, and names below it are free', async () => {
    const site = await build.site();
    const row = await build.domain({ site, name: 'github.io' });
    await turn(site, false, row.id);
    await turn(site, true, row.id);
    const own = `${unique('own')}.github.io`;
    expect(await add(site, own, `*.${own}`)).toMatchObject({ waiting: [] });
    // city.kawasaki.jp is an exception of the rule *.kawasaki.jp, and jp has no wildcard rule.
    expect(await add(site, 'city.kawasaki.jp', '*.city.kawasaki.jp', 'example.jp')).toMatchObject({ waiting: [] });
  });
});
