import { createDecipheriv, createHmac, randomUUID } from 'node:crypto';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { moduleKey, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import { domainModules, tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { forgetVersions } from '../support/services/background-work.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db, pool, secrets } = installation;
afterAll(app.close);

const entry = {
  parts: [{ name: 'auth', format: '{time}-{sign}' }],
  text: '{path}{time}',
  algorithm: 'hmacSha256' as const,
};
const KEY = 'never-shown-again';

async function made(site: BuiltSite, keys: ({ key: string } | { id: string })[] = [{ key: KEY }]) {
  const body = { modules: [{ name: 'Paid', auths: [{ ...entry, name: 'films', keys }] }] };
  const { data } = await as(site.owner).call(tokenAuths.create, { params: site.params, body });
  const [module] = data;
  const [auth] = module?.auths ?? [];
  if (!module || !auth) throw new Error('nothing was made');
  return { module, auth, at: { ...site.params, moduleId: module.id } };
}

/** The keys of each entry, as nodes decrypt them. */
async function onNodes(site: BuiltSite, moduleId: string): Promise<string[][]> {
  const key = moduleKey(moduleId);
  const body = await compileBody(installation, site.zoneId, key);
  expect(body).not.toContain(KEY);
  const doc = parseDoc(key, body);
  if (doc.kind !== 'module' || doc.module !== 'tokenAuth') throw new Error('another document');
  const { keySealed } = await db.zone.findUniqueOrThrow({ where: { id: site.zoneId } });
  const zoneKey = Buffer.from(secrets.open(keySealed, `zones/${site.zoneId}/key`), 'base64');
  return doc.auths.map(({ keys }) =>
    keys.map(({ iv, data, tag }) => {
      const cipher = createDecipheriv('aes-256-gcm', zoneKey, Buffer.from(iv, 'base64'))
        .setAAD(Buffer.from(key))
        .setAuthTag(Buffer.from(tag, 'base64'));
      return Buffer.concat([cipher.update(Buffer.from(data, 'base64')), cipher.final()]).toString();
    }),
  );
}

describe('the keys of a module', () => {
  test('are stored encrypted, and in no response, log, version or document', async () => {
    const site = await build.site();
    const { module, at } = await made(site);
    const { call } = as(site.owner);
    const answers = [
      module,
      await call(tokenAuths.list, { params: site.params }),
      await call(tokenAuths.auths, { params: at }),
      await call(versions.compare, { params: { ...site.params, version: 1 }, query: { against: 0 } }),
    ];
    expect(JSON.stringify(answers)).not.toContain(KEY);
    const tables = await pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables.rows) {
      const { rows } = await pool.query(`SELECT 1 FROM "${name}" t WHERE strpos(t::text, $1) > 0`, [KEY]);
      expect([name, rows.length]).toEqual([name, 0]);
    }
    expect(await onNodes(site, module.id)).toEqual([[KEY]]);
    expect(await outboxKeys(installation, site.zoneId)).toEqual([moduleKey(module.id)]);
  });

  test('stay when named, may be reordered, and are removed when omitted', async () => {
    const site = await build.site();
    const { auth, module, at } = await made(site);
    const { call } = as(site.owner);
    const [first] = auth.keys;
    const put = (keys: ({ key: string } | { id: string })[]) =>
      call(tokenAuths.setAuths, { params: at, body: { items: [{ ...entry, id: auth.id, keys }] } });
    const both = await put([{ id: first?.id ?? '' }, { key: 'the-second-key' }]);
    expect(both.data[0]).toMatchObject({ id: auth.id, keys: [first, {}] });
    expect(await onNodes(site, module.id)).toEqual([[KEY, 'the-second-key']]);
    const turned = await put((both.data[0]?.keys ?? []).toReversed().map(({ id }) => ({ id })));
    expect(await onNodes(site, module.id)).toEqual([['the-second-key', KEY]]);
    await put((turned.data[0]?.keys ?? []).slice(0, 1).map(({ id }) => ({ id })));
    expect(await onNodes(site, module.id)).toEqual([['the-second-key']]);
  });

  test('are restored with their version, even when their module was removed', async () => {
    const site = await build.site();
    const { module, at } = await made(site);
    const { call } = as(site.owner);
    await call(tokenAuths.setAuths, { params: at, body: { items: [{ ...entry, keys: [{ key: 'another-key' }] }] } });
    await call(tokenAuths.remove, { params: site.params, body: { ids: [module.id] } });
    await pool.query(`UPDATE token_keys SET created_at = now() - interval '2 days' WHERE site_id = $1`, [site.id]);
    await forgetVersions(installation);
    await call(versions.rollback, { params: { ...site.params, version: 1 }, body: { reason: '' } });
    expect(await onNodes(site, module.id)).toEqual([[KEY]]);
  });

  test('are deleted a day after the last reference, including versions', async () => {
    const site = await build.site();
    const { at } = await made(site);
    await as(site.owner).call(tokenAuths.setAuths, {
      params: at,
      body: { items: [{ ...entry, keys: [{ key: 'another-key' }] }] },
    });
    await pool.query(`UPDATE token_keys SET created_at = now() - interval '2 days' WHERE site_id = $1`, [site.id]);
    await pool.query('DELETE FROM site_versions WHERE site_id = $1', [site.id]);
    await forgetVersions(installation);
    expect(await db.tokenKey.count({ where: { siteId: site.id } })).toBe(1);
  });

  test('are copied to another site as separate keys', async () => {
    const site = await build.site();
    const other = await build.site({ owner: site.owner, product: site.product });
    const { module } = await made(site);
    const body = { siteIDs: [other.id], ids: [module.id] };
    await as(site.owner).call(copies.modules, { params: { ...site.params, kind: 'tokenAuth' }, body });
    const copy = await db.module.findFirstOrThrow({ where: { siteId: other.id, kind: 'tokenAuth' } });
    expect(JSON.stringify(copy.settings)).not.toContain(module.auths[0]?.keys[0]?.id);
    await db.tokenKey.deleteMany({ where: { siteId: site.id } });
    expect(await onNodes(other, copy.id)).toEqual([[KEY]]);
  });

  test('of another site or tenant cannot be referenced, nor its entries', async () => {
    const [site, other] = [await build.site(), await build.site()];
    const [mine, theirs] = [await made(site), await made(other)];
    const { call } = as(site.owner);
    const keys = [{ id: theirs.auth.keys[0]?.id ?? '' }];
    await expect(call(tokenAuths.setAuths, { params: mine.at, body: { items: [{ ...entry, keys }] } })).toFail(
      'NOT_FOUND',
    );
    await expect(
      call(tokenAuths.setAuths, {
        params: mine.at,
        body: { items: [{ ...entry, id: theirs.auth.id, keys: [{ key: KEY }] }] },
      }),
    ).toFail('NOT_FOUND');
    expect(await onNodes(site, mine.module.id)).toEqual([[KEY]]);
  });

  test('are at most 2,000 per site, and a module has at most 100 entries', async () => {
    const site = await build.site();
    const { at } = await made(site);
    const { call } = as(site.owner);
    const rows = Array.from({ length: 1998 }, () => ({ id: randomUUID(), siteId: site.id, keySealed: 's1' }));
    await db.tokenKey.createMany({ data: rows });
    const items = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...entry, keys: [{ key: `a-key-${i}` }] }));
    await expect(call(tokenAuths.setAuths, { params: at, body: { items: items(2) } })).toFail('LIMIT_REACHED');
    await call(tokenAuths.setAuths, { params: at, body: { items: items(1) } });
    await expect(call(tokenAuths.setAuths, { params: at, body: { items: items(101) } })).toFail('PARAMETER');
  });
});

test('a module is assigned to domains, and not removed while in use', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const { module } = await made(site);
  const { call } = as(site.owner);
  const params = { ...site.params, kind: 'tokenAuth' as const };
  await call(domainModules.assign, { params, body: { domainIDs: [domain.id], moduleID: module.id } });
  await expect(call(tokenAuths.remove, { params: site.params, body: { ids: [module.id] } })).toFail('STILL_IN_USE', {
    errorData: [{ rule: 'inUse', targets: ['Paid'] }],
  });
});

describe('the tester', () => {
  const url = 'https://www.example.com/films/a%20b.mp4?q=1';

  test('signs a URL with the stored key, and shows the signed text', async () => {
    const site = await build.site();
    const { auth, at } = await made(site);
    const time = '2026-11-20T12:00:00.000Z';
    const answer = await as(site.owner).call(tokenAuths.sign, { params: at, body: { authID: auth.id, url, time } });
    const seconds = Date.parse(time) / 1000;
    const sign = createHmac('sha256', KEY).update(`/films/a%20b.mp4${seconds}`).digest('hex');
    expect(answer).toMatchObject({
      url: `${url}&auth=${seconds}-${sign}`,
      headers: [],
      text: `/films/a%20b.mp4${seconds}`,
    });
    expect(answer.expiresAt).toBe('2026-11-20T12:30:00.000Z');
  });

  test('explains why a request is rejected, and what the signer did differently', async () => {
    const site = await build.site();
    const { auth, at } = await made(site);
    const { call } = as(site.owner);
    const time = '2026-11-20T12:00:00.000Z';
    const { url: signed } = await call(tokenAuths.sign, { params: at, body: { authID: auth.id, url, time } });
    const verify = (asked: string, later = 0) =>
      call(tokenAuths.judge, {
        params: at,
        body: { url: asked, time: new Date(Date.parse(time) + later * 1000).toISOString() },
      });
    const decoded = createHmac('sha256', KEY)
      .update(`/films/a b.mp4${Date.parse(time) / 1000}`)
      .digest('hex');
    expect([
      await verify(signed, 10),
      await verify(signed, 1800 + 60 + 300),
      await verify(signed, -61),
      await verify(url),
      await verify(`${signed}&auth=1`),
      await verify(signed.replace(/.$/, '')),
      await verify(signed.replace('a%20b', 'x')),
      await verify(signed.replace(/[0-9a-f]{64}/, decoded)),
    ]).toMatchObject([
      { reason: 'good', seconds: 1850, keyID: auth.keys[0]?.id, name: 'films' },
      { reason: 'expired', seconds: 300, authID: auth.id },
      { reason: 'early', seconds: 1 },
      { reason: 'missing', parts: ['auth={time}-{sign}'] },
      { reason: 'twice' },
      { reason: 'malformed' },
      { reason: 'signature', hint: null },
      { reason: 'signature', hint: 'decodedPath' },
    ]);
  });

  test('needs write permission to sign, and read permission to verify', async () => {
    const site = await build.site();
    const { auth, at } = await made(site);
    const sub = await build.subUser(site.owner, [site], { permissions: ['site:read', 'module:read'] });
    await expect(as(sub).call(tokenAuths.sign, { params: at, body: { authID: auth.id, url } })).toFail(
      'PERMISSION_DENIED',
    );
    expect(await as(sub).call(tokenAuths.judge, { params: at, body: { url } })).toMatchObject({ reason: 'missing' });
  });
});
