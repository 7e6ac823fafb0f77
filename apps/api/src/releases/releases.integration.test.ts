// Releases in the control plane, and who may download them.
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { upgradeOrder } from './orders.ts';
import { latestOf, releasesIn } from './store.ts';
import { UpgradeCommand } from '@edgeloom/contract/edge/releases.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyFilesIn, makeReleaseKey } from '../../../../deploy/release-key.ts';
import { makeRelease, readKey } from '../../../../deploy/release.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import type { TestApp } from '../../../../tests/support/services/app.ts';
import { testDir } from '../../../../tests/support/services/test-dir.ts';

let dir: string;
let releases: string;
let app: TestApp;
const settings = () => ({ RELEASES_DIR: releases, RELEASE_KEYS: keyFilesIn(path.join(dir, 'ours')).publicKey });

beforeAll(async () => {
  dir = await testDir();
  releases = path.join(dir, 'releases');
  await Promise.all(['ours', 'strange'].map((name) => makeReleaseKey(path.join(dir, name))));
  await mkdir(path.join(dir, 'files'));
  for (const version of ['1.9.0', '1.10.0', '1.10.0-rc.1']) await make(version);
  app = await testApp(settings());
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true });
});

async function make(version: string, signer = 'ours', to = releases): Promise<string> {
  await writeFile(path.join(dir, 'files/agent.mjs'), `console.log('${version}');\n`.repeat(1000));
  const key = await readKey(keyFilesIn(path.join(dir, signer)).privateKey);
  return makeRelease({ product: 'agent', version, from: path.join(dir, 'files'), to, key });
}

/** A node's upgrade order, and the response to its download request. */
async function createUpgradeOrder({ hoursAgo = 0, joined = true } = {}) {
  const release = latestOf(await releasesIn(settings()), 'agent');
  if (release === null) throw new Error('there is no release');
  const node = await app.build.node();
  if (joined) {
    const { db } = app.installation;
    await db.edgeNode.update({ where: { id: node.id }, data: { publicKey: `key of ${node.id}` } });
  }
  const now = new Date(Date.now() - hoursAgo * 3_600_000);
  const wanted = { upgradeID: randomUUID(), nodeID: node.id, release, now };
  const { body } = upgradeOrder(app.installation, wanted);
  const { token } = UpgradeCommand.omit({ id: true, deadline: true }).parse(body);
  const fetchIt = (query = '', sha256 = release.manifest.sha256, bearer = token) =>
    fetch(`${app.url}/api/v1/node/release/${sha256}${query}`, { headers: { authorization: `Bearer ${bearer}` } });
  return { release, node, fetchIt };
}

test('the newest release is the highest version, and a pre-release precedes it', async () => {
  const { releases: found, refused } = await releasesIn(settings());
  expect(found.map(({ manifest }) => manifest.version)).toEqual(['1.10.0', '1.10.0-rc.1', '1.9.0']);
  expect(refused).toEqual([]);
});

test('modified, missing or foreign-signed releases are reported and not used', async () => {
  const to = path.join(dir, 'damaged');
  const [strange, changed, cut, gone] = [
    await make('2.0.0', 'strange', to),
    await make('2.1.0', 'ours', to),
    await make('2.2.0', 'ours', to),
    await make('2.3.0', 'ours', to),
  ];
  const bytes = await readFile(changed);
  await writeFile(changed, bytes.fill(0, 20, 30));
  await writeFile(cut, bytes.subarray(1));
  await rm(gone);
  await writeFile(path.join(to, 'no.json'), 'this is no release');
  await copyFile(strange, path.join(to, 'no.tar.gz'));
  const { releases: found, refused } = await releasesIn({ ...settings(), RELEASES_DIR: to });
  expect(found).toEqual([]);
  expect(refused).toEqual([
    { name: 'agent-2.0.0.json', reason: 'no key that is trusted here has signed it' },
    { name: 'agent-2.1.0.json', reason: 'agent-2.1.0.tar.gz is not what was signed' },
    { name: 'agent-2.2.0.json', reason: expect.stringMatching(/^agent-2\.2\.0\.tar\.gz has \d+ bytes, not \d+$/) },
    { name: 'agent-2.3.0.json', reason: expect.stringContaining('ENOENT') },
    { name: 'no.json', reason: expect.stringContaining('JSON') },
  ]);
});

test('a node with an order may download the archive, with ranges', async () => {
  const { release, fetchIt } = await createUpgradeOrder();
  const whole = await readFile(release.file);
  expect(Buffer.from(await (await fetchIt()).arrayBuffer())).toEqual(whole);
  expect(Buffer.from(await (await fetchIt('?from=100')).arrayBuffer())).toEqual(whole.subarray(100));
  expect((await fetchIt(`?from=${whole.length}`)).status).toBe(200);
  expect((await fetchIt('?from=-1')).status).toBe(400);
});

test('a node without a current order for a release may not download it', async () => {
  const { release, node, fetchIt } = await createUpgradeOrder();
  const another = (await releasesIn(settings())).releases.at(-1)?.manifest.sha256 ?? '';
  expect((await fetchIt('', another)).status).toBe(401);
  expect((await fetchIt('', release.manifest.sha256, 'another')).status).toBe(401);
  expect((await fetchIt('', '..%2Fkeys')).status).toBe(401);
  expect((await (await createUpgradeOrder({ hoursAgo: 7 })).fetchIt()).status).toBe(401);
  expect((await (await createUpgradeOrder({ joined: false })).fetchIt()).status).toBe(401);
  await app.installation.db.edgeNode.delete({ where: { id: node.id } });
  expect((await fetchIt()).status).toBe(401);
});
