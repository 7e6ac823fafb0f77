// Runs each bench in a small form, so that none stops working unnoticed. The figures are not checked.
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { services } from '../support/services/shared-services.ts';
import { SERVICES_VARIABLE } from '../support/services/start-services.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const folder = path.join(import.meta.dirname, '../bench');

/** Arguments of the small form, and a pattern of its output. */
const benches: Record<string, { small: string[]; prints: RegExp }> = {
  'api.ts': { small: ['--rounds=1', '--seconds=1', '--scenes=1'], prints: /list 25 of 1,001 domains.*\d/ },
  'burst.ts': { small: ['--kinds=2', '--waiters=20'], prints: /20 waiters of 3 s: fetches 1,/ },
  'cache-conformance.ts': { small: [], prints: /"cases": \d+/ },
  'console.ts': { small: ['--rounds=1', '--pages=2'], prints: /user, sign-in +\d+ +\d+ .*\d/ },
  'dns.ts': { small: ['--names=6'], prints: /goal: made within/ },
  'domains.ts': {
    small: ['--domains=50', '--names=5', '--rounds=1', '--filters=2'],
    prints: /\d+ domains published to one node/,
  },
  'edge.ts': { small: ['--rounds=1', '--seconds=1', '--scenes=2'], prints: /nginx, open files, combined log.*\d/ },
  'fleet.ts': {
    small: ['--agents=2', '--domains=2', '--changes=2', '--rest=1'],
    prints: /from the call that removes a node until its line is closed/,
  },
  'ingest.ts': { small: ['--rounds=1', '--batches=2', '--sites=2'], prints: /ratio \d/ },
  'propagation.ts': { small: ['--sites=20', '--nodes=2', '--changes=2'], prints: /Goal: p99 at most/ },
  'protect.ts': { small: ['--rounds=1', '--seconds=1', '--lists=2'], prints: /all rules: \d/ },
  'purge.ts': { small: ['--nodes=2', '--purges=2'], prints: /Goal: p99 at most/ },
  'query.ts': {
    small: ['--rounds=1', '--sites=2', '--domains=1', '--nodes=1', '--values=20', '--rows=2000'],
    prints: /dashboard: all of these at once +\d/,
  },
  'waf.ts': { small: [], prints: /Paranoia 4: +\d+ µs median/ },
  'redirect.ts': { small: ['--rounds=1', '--seconds=1', '--scenes=2'], prints: /no module +\d.* µs/ },
  'scale.ts': { small: ['--domains=200', '--visited=50', '--changes=5'], prints: /change to effect, median/ },
  'signin.ts': { small: ['--seconds=1', '--people=1', '--rounds=1'], prints: /CPU of a sign-in, ms/ },
  'tail.ts': { small: ['--requests=3'], prints: /p50 \d+ ms, p99 \d+ ms/ },
  'tls.ts': {
    small: ['--rounds=1', '--handshakes=20', '--certificates=20'],
    prints: /edge, any of its certificates.*\d/,
  },
  'zone-changes.ts': { small: ['--minutes=0.05', '--firewall=off'], prints: /"peak": \{/ },
};

/** Parts of other benches. */
const without = ['fleet-agents.ts', 'waf-model.ts', 'waf-training.ts', 'worker-cpu.ts'];

test('a new bench has a small form', async () => {
  expect((await readdir(folder)).toSorted()).toEqual([...Object.keys(benches), ...without].toSorted());
});

test.each(Object.entries(benches))(
  '%s runs to its end and prints its result',
  async (file, { small, prints }) => {
    const json = path.join(await testDir(), 'result.json');
    const { stdout } = await run(process.execPath, [path.join(folder, file), ...small, `--json=${json}`], {
      env: { ...process.env, NODE_NO_WARNINGS: '1', [SERVICES_VARIABLE]: JSON.stringify(services()) },
      // A bench that hangs fails with its output.
      timeout: 200_000,
      maxBuffer: 16 << 20,
    });
    expect(stdout).toMatch(prints);
  },
  240_000,
);
