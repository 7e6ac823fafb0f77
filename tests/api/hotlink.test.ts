import { afterAll, describe, expect, test } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const white = { isBlack: false, referers: ['**.example.com'] };
const robot = { name: 'X-Robot', operator: 'exists' as const };

describe('anti-referers of a domain', () => {
  test('are created, listed in order, changed and removed, and each change is published', async () => {
    const domain = await build.domain();
    const { call } = as(domain.site.owner);
    const { params } = domain;
    const made = await call(antiReferers.create, {
      params,
      body: { antiReferers: [white, { ...white, type: 'fileType', value: ['MP4'], priority: 1 }] },
    });
    expect(made.data).toMatchObject([
      { type: 'fileType', value: ['mp4'], priority: 1 },
      { type: 'all', value: [], allowEmpty: true, action: 'deny', target: null, enabled: true },
    ]);
    const [first, second] = made.data;
    const target = 'https://www.example.com/no.png';
    await call(antiReferers.update, {
      params,
      body: { antiReferers: [{ ...white, id: second?.id ?? '', action: 'redirect', target }] },
    });
    await call(antiReferers.remove, { params, body: { ids: [first?.id ?? ''] } });
    const { data } = await call(antiReferers.list, { params });
    expect(data).toMatchObject([{ action: 'redirect', target, createdAt: second?.createdAt }]);
    expect(await outboxKeys(installation, domain.site.zoneId)).toEqual(
      Array.from({ length: 3 }, () => hostKey(domain.name)),
    );
  });

  test('of a disabled domain are not published', async () => {
    const domain = await build.domain({ enabled: false });
    await as(domain.site.owner).call(antiReferers.create, {
      params: domain.params,
      body: { antiReferers: [white] },
    });
    expect(await outboxKeys(installation, domain.site.zoneId)).toEqual([]);
  });

  test.each([
    [{ ...white, referers: ['https://example.com'] }, 'antiReferers.0.referers.0'],
    [{ ...white, referers: ['a.*.example.com'] }, 'antiReferers.0.referers.0'],
    [{ ...white, referers: ['***.example.com'] }, 'antiReferers.0.referers.0'],
    [{ isBlack: true, referers: [] }, 'antiReferers.0.referers'],
    [{ ...white, type: 'regex' as const, value: ['(a+)+$'] }, 'antiReferers.0.value.0'],
    [{ ...white, type: 'prefix' as const }, 'antiReferers.0.value'],
    [{ ...white, value: ['/x'] }, 'antiReferers.0.value'],
    [{ ...white, action: 'redirect' as const }, 'antiReferers.0.target'],
    [{ ...white, action: 'redirect' as const, target: 'javascript:alert(1)' }, 'antiReferers.0.target'],
    [{ ...white, action: 'redirect' as const, target: 'https://a.example/\r\nX-Evil: 1' }, 'antiReferers.0.target'],
    [{ ...white, action: 'redirect' as const, target: 'https://me:secret@a.example/' }, 'antiReferers.0.target'],
    [{ ...white, action: 'redirect' as const, target: 'https://a.example/%E0%A4%A' }, 'antiReferers.0.target'],
  ])('that are invalid are rejected at their field: %j', async (bad, path) => {
    const domain = await build.domain();
    const refused = as(domain.site.owner).call(antiReferers.create, {
      params: domain.params,
      body: { antiReferers: [bad] },
    });
    await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
  });

  test('are at most 50 and fit into a document, also under concurrent requests', async () => {
    const domain = await build.domain();
    const make = (rules: unknown[]) =>
      as(domain.site.owner).call(antiReferers.create, {
        params: domain.params,
        body: { antiReferers: rules.map(() => white) },
      });
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => make(Array.from({ length: 25 }))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);

    const other = await build.domain();
    const referers = Array.from(
      { length: 200 },
      (_, i) => `${'x'.repeat(50)}${i}.${'y'.repeat(60)}.${'z'.repeat(60)}.example`,
    );
    const long = as(other.site.owner).call(antiReferers.create, {
      params: other.params,
      body: { antiReferers: [{ isBlack: true, referers }] },
    });
    await expect(long).toFail('PARAMETER', { errorData: [expect.objectContaining({ message: 'too much text' })] });
    expect((await as(other.site.owner).call(antiReferers.list, { params: other.params })).data).toEqual([]);
  });
});

describe('anti-headers', () => {
  test('of sites and domains are separate lists in separate documents', async () => {
    const domain = await build.domain();
    const { call } = as(domain.site.owner);
    const [ofSite, ofDomain] = [domain.site.params, domain.params];
    await call(siteAntiHeaders.create, { params: ofSite, body: { antiHeaders: [robot] } });
    await call(antiHeaders.create, {
      params: ofDomain,
      body: { antiHeaders: [{ name: 'X-Key', operator: 'notEqual', value: 'open', action: 'drop' }] },
    });
    expect(await call(siteAntiHeaders.list, { params: ofSite })).toMatchObject({ data: [{ name: 'X-Robot' }] });
    const { data } = await call(antiHeaders.list, { params: ofDomain });
    expect(data).toMatchObject([{ name: 'X-Key', value: 'open', action: 'drop' }]);
    expect(await outboxKeys(installation, domain.site.zoneId)).toEqual([siteKey(domain.site.id), hostKey(domain.name)]);

    // An id of one list is unknown in the other.
    const ids = data.map(({ id }) => id);
    await expect(call(siteAntiHeaders.remove, { params: ofSite, body: { ids } })).toFail('NOT_FOUND');
    const swapped = ids.map((id) => ({ ...robot, id }));
    await expect(call(siteAntiHeaders.update, { params: ofSite, body: { antiHeaders: swapped } })).toFail('NOT_FOUND');
  });

  test.each([
    [{ ...robot, name: 'X Robot' }, 'antiHeaders.0.name'],
    [{ ...robot, name: 'X-Robot:' }, 'antiHeaders.0.name'],
    [{ ...robot, value: 'more' }, 'antiHeaders.0.value'],
    [{ ...robot, operator: 'equal' as const }, 'antiHeaders.0.value'],
    [{ ...robot, operator: 'equal' as const, value: 'a\nb' }, 'antiHeaders.0.value'],
    [{ ...robot, operator: 'matches' as const, value: '(a*)*' }, 'antiHeaders.0.value'],
  ])('that are invalid are rejected at their field: %j', async (bad, path) => {
    const site = await build.site();
    const refused = as(site.owner).call(siteAntiHeaders.create, {
      params: site.params,
      body: { antiHeaders: [bad] },
    });
    await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
  });
});

test('a cloned or copied domain has the same rules', async () => {
  const domain = await build.domain();
  const { site } = domain;
  const other = await build.site({ product: site.product, owner: site.owner });
  const { call } = as(site.owner);
  await call(antiReferers.create, {
    params: domain.params,
    body: {
      antiReferers: [
        { ...white, value: ['a'], type: 'fileType' },
        { ...white, enabled: false },
      ],
    },
  });
  await call(antiHeaders.create, { params: domain.params, body: { antiHeaders: [robot] } });
  const like = await call(domains.createFrom, {
    params: site.params,
    body: { sourceDomainID: domain.id, names: ['a', 'b'].map((name) => `${name}.${domain.name}`) },
  });
  const copies = await call(domains.copyToSite, {
    params: site.params,
    body: { ids: [domain.id], targetSiteID: other.id },
  });
  const places = [
    ...like.ids.map((domainId) => ({ siteId: site.id, domainId })),
    ...copies.ids.map((domainId) => ({ siteId: other.id, domainId })),
  ];
  expect(places).toHaveLength(3);
  for (const params of places) {
    expect(await call(antiReferers.list, { params })).toMatchObject({
      data: [
        { type: 'fileType', enabled: true },
        { type: 'all', enabled: false },
      ],
    });
    expect(await call(antiHeaders.list, { params })).toMatchObject({ data: [{ name: 'X-Robot' }] });
  }
});
