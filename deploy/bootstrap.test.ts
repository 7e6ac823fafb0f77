// With an npx that only records how it was called.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

/** The calls of npx. `script` decides how they end. */
async function installWith(script: string): Promise<string[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'edgeloom-bootstrap-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const folder of ['deploy', 'bin', 'node_modules/.bin'])
    await mkdir(path.join(root, folder), { recursive: true });
  for (const name of ['bootstrap.mjs', 'machine-lock.mjs', 'service-policy.mjs', 'steps.mjs', 'system-programs.mjs'])
    await copyFile(path.join(import.meta.dirname, name), path.join(root, 'deploy', name));
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])
    await writeFile(path.join(root, name), '');
  const executable = { mode: 0o755 };
  await writeFile(path.join(root, 'bin/npx'), `#!/bin/sh\necho "$*" >> ${root}/calls\n${script}\n`, executable);
  await writeFile(path.join(root, 'node_modules/.bin/node'), '#!/bin/sh\n', executable);
  await run(process.execPath, ['deploy/bootstrap.mjs', 'start', '--help'], {
    cwd: root,
    env: { PATH: `${path.join(root, 'bin')}:${process.env['PATH']}` },
  });
  return (await readFile(path.join(root, 'calls'), 'utf8')).trimEnd().split('\n');
}

test('dependencies that the machine has are installed without asking the registry', async () => {
  expect(await installWith('true')).toEqual([expect.stringMatching(/^--prefer-offline -y pnpm@\S+ install /)]);
});

test('the registry is asked when the machine does not have them', async () => {
  const calls = await installWith('case "$1" in --prefer-offline) exit 1 ;; esac');
  expect(calls.map((call) => call.split(' ')[0])).toEqual(['--prefer-offline', '-y']);
});
