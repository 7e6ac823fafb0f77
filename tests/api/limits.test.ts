// Rate limits per class, account and address, shared by several processes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../support/builders/build.ts';
import { startApp, type TestApp } from '../support/services/running-app.ts';
import { services, testDatabase } from '../support/services/shared-services.ts';

const databaseUrl = await testDatabase();
const settings = {
  RATE_SIGN_IN: '5/900',
  RATE_MAIL: '3/900',
  RATE_WRITE: '4/60',
  RATE_READ: '6/60',
  RATE_ADDRESS_FACTOR: '2',
  TRUST_PROXY: '127.0.0.1',
};
let apps: TestApp[] = [];
beforeAll(async () => {
  apps = await Promise.all([startApp(services(), databaseUrl, settings), startApp(services(), databaseUrl, settings)]);
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

let addresses = 0;
/** Each test uses its own client address, through X-Forwarded-For. */
const newAddress = () => `203.0.113.${(addresses += 1)}`;

interface From {
  address: string;
  token?: string;
  process?: number;
}
const call = ({ address, token, process = 0 }: From, method: string, path: string, body?: object) =>
  fetch(`${apps[process]?.url}/api/v1/${path}`, {
    method,
    headers: {
      'x-forwarded-for': address,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
  });
const statuses = async (times: number, one: (i: number) => Promise<Response>) => {
  const found: number[] = [];
  for (let i = 0; i < times; i += 1) found.push((await one(i)).status);
  return found;
};
const login = (from: From) => call(from, 'POST', 'client/login', { email: 'no@example.com', password: 'not the one' });
const tenant = async (): Promise<Tenant> => {
  const [app] = apps;
  if (!app) throw new Error('not started');
  return app.build.client();
};

describe('sign-ins', () => {
  test('per address are counted over all processes', async () => {
    const address = newAddress();
    expect(await statuses(6, (i) => login({ address, process: i % 2 }))).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await login({ address: newAddress() })).status).toBe(401);
  });

  test('that are concurrent are counted like sequential ones', async () => {
    const address = newAddress();
    const found = await Promise.all(Array.from({ length: 12 }, (_, i) => login({ address, process: i % 2 })));
    expect(found.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(found.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  test('of an IPv6 network are counted together', async () => {
    const found = await statuses(6, (i) => login({ address: `2001:db8:7:8:${i}::1` }));
    expect(found.at(-1)).toBe(429);
    expect((await login({ address: '2001:db8:7:9::1' })).status).toBe(401);
  });

  test('that fail ten times lock an account for an IPv6 network, in any notation', async () => {
    const wide = await startApp(services(), databaseUrl, { ...settings, RATE_SIGN_IN: '1000/900' });
    const guess = async (address: string) => {
      const headers = { 'x-forwarded-for': address, 'content-type': 'application/json' };
      const body = JSON.stringify({ email: 'guessed@example.com', password: 'not the one' });
      return (await fetch(`${wide.url}/api/v1/client/login`, { method: 'POST', headers, body })).status;
    };
    for (let i = 0; i < 10; i += 1) expect(await guess(`2001:db8:a:b:${i}::1`)).toBe(401);
    const others = ['2001:DB8:A:B::ffff', '[2001:db8:a:b::2]:443', '2001:db8:a:c::1'];
    expect(await Promise.all(others.map(guess))).toEqual([429, 429, 401]);
    await wide.close();
  });

  // Regression: an internal error, since a port looked like IPv6.
  test('ignore a port that the proxy appends to the address', async () => {
    const address = newAddress();
    const found = await statuses(6, (i) => login({ address: `${address}:${40_000 + i}` }));
    expect(found).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await login({ address: '203.0.113.999' })).status).toBe(401);
  });

  test('beyond the limit get a Retry-After header, and are not audited', async () => {
    const address = newAddress();
    await statuses(5, () => login({ address }));
    const answer = await login({ address });
    expect(answer.headers.get('ratelimit-policy')).toBe('"address";q=5;w=900');
    expect(answer.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await answer.json()).toMatchObject({ code: 101003, errorData: [{ rule: 'rate' }] });
    const rows = await apps[0]?.installation.db.auditRow.count({ where: { address } });
    expect(rows).toBe(5);
  });
});

test('calls without session that send a mail have a lower limit, over all processes', async () => {
  const address = newAddress();
  const forgot = (i: number) =>
    call({ address, process: i % 2 }, 'PATCH', 'client/password', { email: `someone${i}@example.com` });
  expect(await statuses(4, forgot)).toEqual([200, 200, 200, 429]);
});

describe('writes and reads', () => {
  test('of an account are counted over all addresses, separately', async () => {
    const { client } = await tenant();
    const from = () => ({ address: newAddress(), token: client.token });
    expect(await statuses(5, () => call(from(), 'POST', 'client/zone', {}))).toEqual([400, 400, 400, 400, 429]);
    expect(await statuses(7, () => call(from(), 'GET', 'client/zones'))).toEqual([200, 200, 200, 200, 200, 200, 429]);
  });

  test('of an address may come from several accounts, up to a limit', async () => {
    const address = newAddress();
    const tokens = await Promise.all([tenant(), tenant(), tenant()]);
    const found = await statuses(13, (i) =>
      call({ address, token: tokens[i % 3]?.client.token ?? '' }, 'GET', 'client/zones'),
    );
    expect(found).toEqual([...Array.from({ length: 12 }, () => 200), 429]);
  });

  test('return the remaining number of both', async () => {
    const { client } = await tenant();
    const { headers } = await call({ address: newAddress(), token: client.token }, 'GET', 'client/zones');
    expect(headers.get('ratelimit-policy')).toBe('"address";q=12;w=60, "account";q=6;w=60');
    expect(headers.get('ratelimit')).toMatch(/^"address";r=11;t=\d+, "account";r=5;t=\d+$/);
  });

  test('with an invalid token count for the address', async () => {
    const address = newAddress();
    const found = await statuses(13, (i) => call({ address, token: `wrong${i}` }, 'GET', 'client/zones'));
    expect(found.at(-1)).toBe(429);
  });
});
