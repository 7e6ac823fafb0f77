// One release of the agent follows another on a node that serves: the real agent under its launcher, real nginx, real NATS.
import { randomUUID } from 'node:crypto';
import { chmod, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { handOut, homeWith, releaseMaker, TOKEN } from '../support/node-home.ts';
import type { MadeRelease, Maker } from '../support/node-home.ts';
import { get, inTime, standingNode } from '../support/standing-node.ts';
import type { Standing } from '../support/standing-node.ts';
import { findProgram } from '../../deploy/services/program.ts';
import { testDir } from '../support/test-dir.ts';

// Each starts processes, on a machine that runs other tests as well.
vi.setConfig({ testTimeout: 180_000 });

let make: Maker;
let one: MadeRelease;
beforeAll(async () => {
  make = await releaseMaker();
  one = await make.agent('1.0.0');
}, 60_000);
afterAll(() => make.stop());

interface Upgrading extends Standing {
  home: string;
  /** Answers what the node says to the order; what becomes of it is in `peer.upgrades`. */
  order: (release: MadeRelease, more?: object) => ReturnType<Standing['peer']['command']>;
  /** The last word on the last order. */
  outcome: () => Promise<{ state: string; message: string }>;
  current: () => Promise<string>;
}

/** A node of release 1.0.0. An nginx of its own says no to what has a file `refuse`. */
async function node(seconds = 60): Promise<Upgrading> {
  const { home, launcher } = await homeWith(one);
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [dir, nginx] = [await testDir(), path.join(home, 'nginx')];
  const real = await findProgram('nginx');
  await writeFile(
    nginx,
    `#!/bin/sh
for at in ${home}/releases/$(cat ${home}/trial/to 2>/dev/null || echo none)/refuse ${dir}/packs/waf/current/refuse; do
  if [ -e "$at" ]; then case " $* " in *' -t '*) echo 'nginx: [emerg] this is refused' >&2; exit 1 ;; esac; fi
done
exec ${real} "$@"
`,
  );
  await chmod(nginx, 0o755);
  const standing = await standingNode({
    dir,
    nginx,
    program: { command: launcher, args: [] },
    isKept: true,
    env: { EDGELOOM_RELEASE_KEYS: make.keysFile, EDGELOOM_TRIAL_SECONDS: String(seconds) },
  });
  const { peer } = standing;
  let upgradeID = '';
  return {
    ...standing,
    home,
    order: ({ signed }, more = {}) => {
      upgradeID = randomUUID();
      return peer.command('upgrade', { upgradeID, release: signed, control: peer.url, token: TOKEN, ...more });
    },
    outcome: () =>
      inTime(() => {
        const last = peer.upgrades.filter((report) => report.upgradeID === upgradeID).at(-1);
        if (!['complete', 'failed', 'rolledBack'].includes(last?.state ?? ''))
          throw new Error(
            `${JSON.stringify(peer.upgrades)}\n${standing.agent.log.map((line) => JSON.stringify(line)).join('\n')}`,
          );
        return { state: last?.state ?? '', message: last?.message ?? '' };
      }),
    current: async () => path.basename(await readlink(path.join(home, 'current'))),
  };
}

/** What the node says of itself by now. */
const says = ({ peer }: Standing, version: string) =>
  inTime(() => expect(peer.heartbeats.at(-1)?.version).toBe(version));

test('N, N+1, N: complete', async () => {
  const it = await node();
  const two = await make.agent('1.1.0');
  handOut(it.peer, two);
  expect(await it.order(two)).toMatchObject({ ok: true, error: null });
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.1.0');
  expect(it.peer.heartbeats.at(-1)).toMatchObject({ release: two.sha256, packs: {} });
  expect(await it.current()).toBe(two.name);
  expect(await it.order(one)).toMatchObject({
    ok: false,
    error: expect.stringContaining('agent 1.0.0 is older than 1.1.0'),
  });
  expect(await it.order(one, { rollback: true })).toMatchObject({ ok: true });
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.0.0');
  expect((await get(it.ports.http, 'www.example.com')).status).toBe(200);
});
