// A burst of sign-ins: a limited number waits, the rest gets 429 with Retry-After.
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';

const { as, build, url, close } = await testApp();
afterAll(close);

test('a burst of sign-ins beyond the queue gets 429 with Retry-After, and a later sign-in is served', async () => {
  const { client } = await build.client();
  const attempt = (i: number) =>
    fetch(`${url}/api/v1/client/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `nobody-${i}@example.com`, password: 'not the password' }),
    });
  const burst = Promise.all(Array.from({ length: 250 }, (_, i) => attempt(i)));
  expect(await as(client).call(session.self)).toHaveProperty('email', client.email);
  const answers = await burst;
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
  expect(answers.filter(({ status }) => status === 401 || status === 400).length).toBeGreaterThan(50);
  expect((await attempt(1000)).status).not.toBe(429);
});
