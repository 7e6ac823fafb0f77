import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { encodeDocFile } from '@edgeloom/agent/store/files.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { hostDoc, siteDoc, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const flipped = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
};
const damages: [string, (whole: Buffer) => Buffer][] = [
  ['with a flipped bit in its body', (whole) => flipped(whole, whole.length - 20)],
  ['with a flipped bit in its header', (whole) => flipped(whole, 14)],
  ['cut short', (whole) => whole.subarray(0, whole.length - 1)],
  ['cut within its header', (whole) => whole.subarray(0, 9)],
  ['that is empty', () => Buffer.alloc(0)],
  ['longer than it says', (whole) => Buffer.concat([whole, Buffer.from(' ')])],
  ['of random bytes', () => randomBytes(500)],
  ['with zeros where text was', (whole) => Buffer.alloc(whole.length)],
  ['that is whole but no JSON', () => encodeDocFile(1, '{"kind":')],
  ['that is whole but no object', () => encodeDocFile(1, '"text"')],
];

describe.each(damages)('a document %s', (_, damage) => {
  test.each(['host', 'site'] as const)('of a %s is refused and the one before it serves', async (kind) => {
    const { site, host, name } = await edge.site();
    expect((await edge.get('/', { host: name })).status).toBe(200);
    const key = kind === 'host' ? `host/${name}` : `site/${site.id}`;
    const before = (await edge.counters())['docCorrupt'] ?? 0;
    await edge.writeRaw(key, damage(await readFile(edge.pathOf(key))));
    await edge.admin.bump([key]);
    // Several workers, with and without a decoded copy in memory.
    for (let i = 0; i < 12; i += 1) expect((await edge.get('/', { host: name })).status).toBe(200);
    expect((await edge.counters())['docCorrupt']).toBeGreaterThan(before);
    expect(await edge.errors()).toContain(`document ${key} is refused`);
    await edge.put({ ...site, status: 'pause' }, { ...host, domainID: randomUUID() });
    expect((await edge.get('/', { host: name })).status).toBe(904);
  });

  test('without a cached copy gets 503, and other sites are served', async () => {
    const { name: other } = await edge.site();
    const site = siteDoc();
    const host = hostDoc(site, edge.origin.port);
    await edge.put(site);
    await edge.writeRaw(`host/${host.name}`, damage(encodeDocFile(1, JSON.stringify(host))));
    await edge.admin.bump([`host/${host.name}`]);
    const reply = await edge.get('/', { host: host.name });
    expect(reply.status).toBe(503);
    expect(reply.body).toContain('Service Unavailable');
    expect((await edge.get('/', { host: other })).status).toBe(200);
    await edge.put(host);
    expect((await edge.get('/', { host: host.name })).status).toBe(200);
  });
});

test('a document that is a folder or unreadable does not affect visitors', async () => {
  const { name } = await edge.site();
  await edge.get('/', { host: name });
  await rm(edge.pathOf(`host/${name}`));
  await mkdir(edge.pathOf(`host/${name}`));
  await edge.admin.bump([`host/${name}`]);
  for (let i = 0; i < 6; i += 1) expect((await edge.get('/', { host: name })).status).toBe(200);
});

test('a corrupt zone document keeps the known outbound rules', async () => {
  const { name } = await edge.site();
  await edge.get('/', { host: name });
  const whole = await readFile(edge.pathOf('zone'));
  await writeFile(edge.pathOf('zone'), flipped(whole, whole.length - 5));
  await edge.admin.bump(['zone']);
  for (let i = 0; i < 6; i += 1) expect((await edge.get(`/zone${i}`, { host: name })).status).toBe(200);
  await writeFile(edge.pathOf('zone'), whole);
  await edge.admin.bump(['zone']);
});

test('no Lua error was logged', async () => {
  const errors = await edge.errors();
  expect(errors).not.toMatch(/lua entry thread aborted|attempt to|stack traceback|failed to run/);
});
