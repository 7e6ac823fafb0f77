// Several processes work through many due certificates, each order once, within the authority's rate limits.
import { autoCertificates, certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { orderDue } from '../support/services/background-work.ts';
import { processDueOrders } from '../support/builders/process-due-orders.ts';
import { startAcmeGateway } from '../support/fakes/acme-gateway.ts';
import { testApp, type TestApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { startPebble, type Pebble } from '../support/services/pebble.ts';

const MANY = 20;
const BUDGET = 16;
const COMMON = 12;
const HOUR_MS = 3_600_000;

let pebble: Pebble;
let app: TestApp;
/** For the tests with authorities of their own. */
let issuing: TestApp;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  pebble = await startPebble({ httpPort: 1, acceptsEveryChallenge: true });
  onEnd(() => pebble.stop());
  app = await testApp({ ACME_AUTHORITIES: JSON.stringify([{ ...pebble.authority, ordersPer3Hours: BUDGET }]) });
  onEnd(() => app.close());
  issuing = await testApp();
  onEnd(() => issuing.close());
}, 120_000);
afterAll(stopAll);

test(
  "due orders are placed once each; those beyond the authority's limit wait for three hours",
  { timeout: 480_000 },
  async () => {
    const { db, pool } = app.installation;
    const site = await app.build.site();
    const due = new Date(Date.now() - 1000);
    for (let i = 0; i < MANY; i += 1) {
      const { name } = await app.build.domain({ site, name: `${unique('q')}.example.com` });
      await app.build.certificate(site, [name], { type: 'automatic', keyTypes: ['ecdsa'], nextAt: due });
    }
    // Two processes find the same due certificates.
    const opened = await Promise.all([orderDue(pool, new Date()), orderDue(pool, new Date())]);
    expect(opened.reduce((sum, count) => sum + count, 0)).toBe(MANY);

    const log = { warn: (...said: unknown[]) => console.warn(...said) };
    const began = Date.now();
    const workOff = (now: () => Date) =>
      Promise.all([processDueOrders(app.installation, now, log), processDueOrders(app.installation, now, log)]);
    await workOff(() => new Date());
    const counted = async () => {
      const rows = await db.certificateOrder.groupBy({ by: ['state'], _count: true });
      return Object.fromEntries(rows.map(({ state, _count }) => [state, _count]));
    };
    const { done = 0, open = 0, failed = 0 } = await counted();
    console.info(`${done} certificates in ${Date.now() - began} ms by two processes`);
    expect([done + open, failed]).toEqual([MANY, 0]);
    // Sixteen concurrent orders do not exceed the limit. The last quarter is reserved for small clients.
    expect(done).toBe(COMMON);
    expect(await db.certificateEvent.count({ where: { step: 'waits' } })).toBe(open);
    const beside = await app.build.site();
    const { name } = await app.build.domain({ site: beside });
    await app.build.certificate(beside, [name], { type: 'automatic', keyTypes: ['ecdsa'], nextAt: due });
    await orderDue(pool, new Date());
    await workOff(() => new Date());
    expect(await counted()).toEqual({ done: COMMON + 1, open });

    const later = Date.now() + 3.5 * HOUR_MS;
    await workOff(() => new Date(later));
    expect(await counted()).toEqual({ done: MANY + 1 });
    expect(await db.certificateEvent.count({ where: { step: 'placed' } })).toBe(MANY + 1);
  },
);

test(
  'a renewal keeps the certificate selected for a domain; a new order for the domain replaces it',
  { timeout: 240_000 },
  async () => {
    const { db } = app.installation;
    const site = await app.build.site();
    const { id, name } = await app.build.domain({ site, name: `${unique('chosen')}.example.com` });
    const chosen = await app.build.certificate(site, [name]);
    const automatic = await app.build.certificate(site, [name], { type: 'automatic', keyTypes: ['ecdsa'] });
    await db.domain.update({ where: { id }, data: { certificateId: chosen.id } });
    // Beyond the limit that the test above has used up.
    const later = new Date(Date.now() + 12 * HOUR_MS);
    const workOff = () =>
      processDueOrders(app.installation, () => later, { warn: (...said: unknown[]) => console.warn(...said) });
    const served = async () => (await db.domain.findUniqueOrThrow({ where: { id } })).certificateId;

    await app.as(site.client).call(autoCertificates.renew, { body: { ids: [automatic.id] } });
    await workOff();
    expect(await db.certificateOrder.findMany({ where: { certificateId: automatic.id } })).toMatchObject([
      { state: 'done' },
    ]);
    expect(await served()).toBe(chosen.id);

    await app.as(site.owner).call(certificates.autoSSL, { params: site.params, body: { ids: [id] } });
    await workOff();
    expect(await served()).toBe(automatic.id);
  },
);

const refused = { type: 'urn:ietf:params:acme:error:serverInternal', detail: 'no room' };
const busy = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'busy', status: 503 };

/** A site whose certificates come from these authorities. The clocks only move with `pass`. */
async function startIssuing(authorities: (Pebble['authority'] & { ordersPer3Hours?: number })[]) {
  const { build, installation } = issuing;
  const { db, pool, secrets } = installation;
  const ACME_AUTHORITIES = authorities.map((authority) => ({ ordersPer3Hours: 250, ...authority }));
  const deps = { env: { ...installation.env, ACME_AUTHORITIES }, pool, secrets };
  const site = await build.site();
  // The next test has other authorities.
  onTestFinished(async () => {
    await db.certificateOrder.deleteMany({ where: { state: 'open' } });
    await db.certificate.updateMany({ data: { nextAt: null } });
  });
  // A minute ahead, because Pebble's certificates are not valid before they are signed.
  const start = Date.now() + 60_000;
  let passedMs = 0;
  const now = () => new Date(start + passedMs);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => 1e9 + passedMs);
  onTestFinished(() => clock.mockRestore());
  const work = () => processDueOrders(deps, now, { warn: (...said: unknown[]) => console.warn(...said) });
  return {
    /** Waiting orders are tried again at the end. */
    pass: async (ms: number) => {
      passedMs += ms;
      await work();
    },
    /** A new order, tried as long as it is due. */
    order: async () => {
      const { name } = await build.domain({ site, name: `${unique('down')}.example.com` });
      const { id } = await build.certificate(site, [name], { type: 'automatic', keyTypes: ['ecdsa'], nextAt: now() });
      await orderDue(pool, now());
      await work();
      return async () => {
        const events = await db.certificateEvent.findMany({ where: { certificateId: id }, orderBy: { id: 'asc' } });
        return events.map(({ step, ca }) => `${step} ${ca}`);
      };
    },
  };
}

describe('an authority that is down', () => {
  // Regression: each order asked the authority three times within seven seconds.
  test('delays no order that another one can serve', { timeout: 240_000 }, async () => {
    const gateway = await startAcmeGateway(pebble.authority, () => 'close');
    const { order, pass } = await startIssuing([gateway.authority, pebble.authority]);
    const first = await (await order())();
    expect(first).toContain('passed Gateway');
    expect(first.at(-1)).toBe('signed Pebble');
    expect(gateway.requests()).toBe(2);
    // The process remembers it for a minute, so that one that never responds delays few orders.
    const second = await (await order())();
    expect(second).not.toContain('passed Gateway');
    expect(second.at(-1)).toBe('signed Pebble');
    expect(gateway.requests()).toBe(2);
    await pass(60_000);
    expect(await (await order())()).toContain('passed Gateway');
  });

  // Regression: after one lost packet another authority got the order, which a domain's CAA may forbid. A lost response
  // to the order itself also moved the orders of the next minute.
  test.each(['/dir', '/order-plz'])('for one request to %s keeps the order', { timeout: 240_000 }, async (lost) => {
    let isLost = true;
    const gateway = await startAcmeGateway(pebble.authority, ({ url }) => {
      if (!isLost || url !== lost) return null;
      isLost = false;
      return 'close';
    });
    const { order, pass } = await startIssuing([gateway.authority, pebble.authority]);
    const first = await order();
    expect((await (await order())()).at(-1)).toBe('signed Gateway');
    await pass(10_000);
    const events = await first();
    expect(events.join()).not.toContain('passed');
    expect(events.at(-1)).toBe('signed Gateway');
  });

  test('only for new orders passes them on after three attempts', { timeout: 240_000 }, async () => {
    const gateway = await startAcmeGateway(pebble.authority, ({ url }) => (url === '/order-plz' ? 'close' : null));
    const { order, pass } = await startIssuing([gateway.authority, pebble.authority]);
    const events = await order();
    for (let i = 0; i < 3; i += 1) await pass(10_000);
    expect(await events()).toContain('passed Gateway');
    expect((await events()).at(-1)).toBe('signed Pebble');
  });

  // Regression: each order asked it three times.
  test.each([500, 525])('with status %d delays no order', { timeout: 240_000 }, async (status) => {
    const gateway = await startAcmeGateway(pebble.authority, () => status);
    const { order } = await startIssuing([gateway.authority, pebble.authority]);
    expect((await (await order())()).at(-1)).toBe('signed Pebble');
    expect(gateway.requests()).toBe(2);
  });

  // Regression: an order that the authority never had used up its rate limit for three hours.
  test('keeps its rate limit', { timeout: 240_000 }, async () => {
    let isDown = true;
    const gateway = await startAcmeGateway(pebble.authority, () => (isDown ? 'close' : null));
    const { order, pass } = await startIssuing([{ ...gateway.authority, ordersPer3Hours: 1 }, pebble.authority]);
    expect((await (await order())()).at(-1)).toBe('signed Pebble');
    isDown = false;
    await pass(61_000);
    expect((await (await order())()).at(-1)).toBe('signed Gateway');
  });

  // Regression: all eight attempts were made within four minutes.
  test('is asked again when its Retry-After has passed', { timeout: 240_000 }, async () => {
    let attempts = 0;
    const gateway = await startAcmeGateway(pebble.authority, ({ url }) => {
      if (url !== '/order-plz') return null;
      attempts += 1;
      return attempts === 1 ? { ...busy, retryAfter: 600 } : null;
    });
    const { order, pass } = await startIssuing([gateway.authority]);
    const events = await order();
    await pass(599_000);
    expect(attempts).toBe(1);
    await pass(1000);
    expect((await events()).at(-1)).toBe('signed Gateway');
  });

  // Regression: when all of them had been down for some seconds, the order failed for an hour.
  test('for a minute still signs the order', { timeout: 240_000 }, async () => {
    let isDown = true;
    const gateway = await startAcmeGateway(pebble.authority, () => (isDown ? 'close' : null));
    const other = await startAcmeGateway(pebble.authority, () => 'close', 'Other');
    const { order, pass } = await startIssuing([gateway.authority, other.authority]);
    const events = await order();
    for (let i = 0; i < 5; i += 1) await pass(10_000);
    expect((await events()).join()).not.toContain('failed');
    isDown = false;
    for (let i = 0; i < 5; i += 1) await pass(61_000);
    expect((await events()).at(-1)).toBe('signed Gateway');
  });

  test('fails the order at last', { timeout: 240_000 }, async () => {
    const gateway = await startAcmeGateway(pebble.authority, () => 503);
    const { order, pass } = await startIssuing([gateway.authority]);
    const events = await order();
    for (let i = 0; i < 10; i += 1) await pass(HOUR_MS);
    expect((await events()).at(-1)).toBe('failed Gateway');
  });

  // Regression: each internal error started the count again, so that the order never ended.
  test('between internal errors fails the order at last', { timeout: 240_000 }, async () => {
    let attempts = 0;
    const gateway = await startAcmeGateway(pebble.authority, ({ url }) => {
      if (url !== '/order-plz') return null;
      attempts += 1;
      return attempts > 3 && attempts % 3 === 1 ? refused : busy;
    });
    const { order, pass } = await startIssuing([gateway.authority]);
    const events = await order();
    for (let i = 0; i < 10; i += 1) await pass(HOUR_MS);
    expect((await events()).at(-1)).toBe('failed Gateway');
    expect(attempts).toBe(8);
  });
});

// Regression: an authority without HEAD counted as down for ever.
test('an authority that does not support HEAD for its directory gets orders', { timeout: 240_000 }, async () => {
  const gateway = await startAcmeGateway(pebble.authority, ({ method, url }) =>
    method === 'HEAD' && url === '/dir' ? 501 : null,
  );
  const { order } = await startIssuing([gateway.authority, pebble.authority]);
  expect((await (await order())()).at(-1)).toBe('signed Gateway');
});

// Regression: all orders of the next minute went to another authority.
test('an internal error with one order does not mark the authority as down', { timeout: 240_000 }, async () => {
  let isRefusing = true;
  const gateway = await startAcmeGateway(pebble.authority, ({ url }) =>
    isRefusing && url === '/order-plz' ? refused : null,
  );
  const { order, pass } = await startIssuing([gateway.authority, pebble.authority]);
  const first = await order();
  expect((await first()).join()).not.toContain('passed');
  isRefusing = false;
  expect((await (await order())()).at(-1)).toBe('signed Gateway');
  await pass(10_000);
  expect((await first()).at(-1)).toBe('signed Gateway');
});
