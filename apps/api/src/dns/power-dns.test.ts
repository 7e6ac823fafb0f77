import { expect, test } from 'vitest';
import * as z from 'zod';
import { powerDns } from './power-dns.ts';

const answering = (body: string) =>
  powerDns({ url: 'https://dns.example', serverID: 'localhost', apiKey: 'x' }, () =>
    Promise.resolve(new Response(body, { status: 200 })),
  );

test.each([
  ['sets', `{"rrsets":[0${',0'.repeat(1_000_000)}]}`],
  ['values', `{"rrsets":[{"name":"a.","type":"A","ttl":60,"records":[0${',0'.repeat(1_000_000)}]}]}`],
])('an answer of a million things that are no %s costs no more than its first fault', async (_, body) => {
  const refused = await answering(body)
    .list('example.com')
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(z.ZodError);
  expect(refused instanceof z.ZodError && refused.issues.length).toBe(1);
});
