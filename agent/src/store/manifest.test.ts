import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from './documents.ts';
import { Manifest, parseManifest } from './manifest.ts';
import type { Inventory, Known } from './manifest.ts';

const known = (revision: number): Known => ({ revision, sha256: sha256(String(revision)) });
const inventory = (docs: [string, Known][], revision: number): Inventory => {
  const map = new Map(docs);
  return { docs: map, revision, digest: digestOf(map) };
};

/** Three states after each other; the last one takes a document away. */
const states = [
  inventory([['zone', known(1)]], 1),
  inventory(
    [
      ['zone', known(1)],
      ['host/a.example.com', known(2)],
    ],
    2,
  ),
  inventory([['host/a.example.com', known(3)]], 4),
];

async function written(): Promise<{ file: string; bytes: Buffer }> {
  const dir = await mkdtemp(path.join(tmpdir(), 'manifest-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'manifest');
  const manifest = new Manifest(file);
  const [first, second, third] = states;
  if (!first || !second || !third) throw new Error('three states');
  await manifest.rewrite(first);
  await manifest.append(new Map([['host/a.example.com', known(2)]]), second);
  await manifest.append(
    new Map<string, Known | null>([
      ['zone', null],
      ['host/a.example.com', known(3)],
    ]),
    third,
  );
  await manifest.close();
  return { file, bytes: await readFile(file) };
}

test('a manifest that was cut off anywhere is one of the states it went through', async () => {
  const { bytes } = await written();
  const found = Array.from({ length: bytes.length + 1 }, (_, length) => parseManifest(bytes.subarray(0, length)));
  expect(distinct(found)).toEqual([null, ...states]);
});

test('a bit that turned in a batch ends the manifest before it', async () => {
  const { bytes } = await written();
  const found = Array.from(bytes, (byte, at) => {
    const damaged = Buffer.from(bytes);
    damaged[at] = byte ^ 0x10;
    return parseManifest(damaged);
  });
  expect(distinct(found)).toEqual([null, states[0], states[1]]);
});

test('a manifest that was cut anywhere before its newest batch is a state from before the cut', async () => {
  const { file, bytes } = await written();
  const manifest = new Manifest(file);
  const read = await manifest.load();
  const docs = new Map(read?.docs).set('host/b.example.com', known(5));
  await manifest.append(new Map([['host/b.example.com', known(5)]]), inventory([...docs], 5));
  await manifest.close();
  const newest = (await readFile(file)).subarray(bytes.length);
  const found = Array.from(bytes, (_, length) => parseManifest(Buffer.concat([bytes.subarray(0, length), newest])));
  expect(distinct(found)).toEqual([null, states[0], states[1]]);
});

const distinct = (found: ReturnType<typeof parseManifest>[]) => [
  ...new Map(found.map((read) => [read?.inventory.revision, read?.inventory ?? null])).values(),
];

test('what is noted after a cut-off batch can be read', async () => {
  const { file, bytes } = await written();
  await writeFile(file, bytes.subarray(0, -10));
  const manifest = new Manifest(file);
  const read = await manifest.load();
  expect(read).toEqual(states[1]);
  const next = inventory(
    [
      ['zone', known(1)],
      ['host/a.example.com', known(2)],
      ['host/b.example.com', known(5)],
    ],
    5,
  );
  await manifest.append(new Map([['host/b.example.com', known(5)]]), next);
  await manifest.close();
  expect(parseManifest(await readFile(file))?.inventory).toEqual(next);
});

test('a manifest does not grow without end', async () => {
  const { file } = await written();
  const manifest = new Manifest(file);
  await manifest.load();
  for (let revision = 5; revision < 3000; revision += 1) {
    await manifest.append(new Map([['zone', known(revision)]]), inventory([['zone', known(revision)]], revision));
  }
  await manifest.close();
  const bytes = await readFile(file);
  expect(bytes.toString().split('\n').length).toBeLessThan(1100);
  expect(parseManifest(bytes)?.inventory).toEqual(inventory([['zone', known(2999)]], 2999));
});
