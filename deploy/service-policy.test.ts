// On a folder in place of the system. The programs that disable services are not found.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const OWN_POLICY = '#!/bin/sh\nexit 0\n';
const WANTS = 'etc/systemd/system/multi-user.target.wants';
const MODULES = 'etc/nginx/modules-enabled';

/** A system with nginx, a policy of its own, an enabled service and a loaded module. */
async function makeSystem(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'edgeloom-policy-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const folder of ['usr/sbin', WANTS, MODULES]) await mkdir(path.join(root, folder), { recursive: true });
  await writeFile(path.join(root, 'usr/sbin/nginx'), '');
  await writeFile(path.join(root, 'usr/sbin/policy-rc.d'), OWN_POLICY, { mode: 0o755 });
  await symlink('/lib/ssh.service', path.join(root, WANTS, 'ssh.service'));
  await symlink('/lib/old.conf', path.join(root, MODULES, 'old.conf'));
  return root;
}

/** A process that installs packages with a service and a module, and then runs `last`. */
async function startInstallation(root: string, last: string) {
  return runScript(
    root,
    `import { symlink } from 'node:fs/promises';
    await withoutServices(async () => {
      await symlink('/lib/new.service', root + '/${WANTS}/new.service');
      await symlink('/lib/new.conf', root + '/${MODULES}/new.conf');
      ${last}
    }, root);`,
  );
}

function runScript(root: string, code: string, programs = '') {
  const head = `import { ensureSystemPrograms } from './system-programs.mjs';
    import { hasPolicy, revertKilledRun, withoutServices } from './service-policy.mjs';
    const root = ${JSON.stringify(root)};`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${head}${code}`], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: programs },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

type Installation = ReturnType<typeof runScript>;
async function output(child: Installation): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return text;
}

const look = async (root: string) => ({
  policies: (await readdir(path.join(root, 'usr/sbin'))).filter((name) => name.startsWith('policy')).sort(),
  policy: await readFile(path.join(root, 'usr/sbin/policy-rc.d'), 'utf8').catch(() => null),
  enabled: [...(await readdir(path.join(root, WANTS))), ...(await readdir(path.join(root, MODULES)))],
});
const untouched = { policies: ['policy-rc.d'], policy: OWN_POLICY, enabled: ['ssh.service', 'old.conf'] };

const untilInputEnds = "console.log('installed'); for await (const _ of process.stdin);";

/** An installation that was killed after its packages had enabled what they have. */
async function killInstallation(root: string) {
  const child = await startInstallation(root, untilInputEnds);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('packages may start no service while they are installed, and afterwards everything is as before', async () => {
  const root = await makeSystem();
  const child = await startInstallation(root, untilInputEnds);
  await once(child.stdout, 'data');
  const { policies, policy } = await look(root);
  expect(policies).toEqual(['policy-rc.d', 'policy-rc.d.before-edgeloom']);
  expect(policy).toMatch(/\nexit 101\n$/);
  child.stdin.end();
  await once(child, 'exit');
  expect(await look(root)).toEqual(untouched);
});

// Regression: the policy and all new services stayed, since nothing was caught.
test.each([
  ['is closed', (child: Installation) => void child.kill('SIGHUP')],
  ['takes no more output', (child: Installation) => void child.stdout.destroy()],
])('an installation whose terminal %s leaves everything as before', async (_, breakTerminal) => {
  const root = await makeSystem();
  const child = await startInstallation(root, untilInputEnds);
  await once(child.stdout, 'data');
  breakTerminal(child);
  child.stdin.end();
  await once(child, 'exit');
  expect(await look(root)).toEqual(untouched);
});

/** Runs as root without anything to install, and returns the output. `flock`: the exit code of that program. */
async function ensureWithoutMissing(root: string, flock: number): Promise<string> {
  const programs = path.join(root, 'programs');
  await mkdir(programs);
  await writeFile(path.join(programs, 'flock'), `#!/bin/sh\nexit ${flock}\n`, { mode: 0o755 });
  const dpkg = '#!/bin/sh\nshift 3\nfor name; do echo "installed $name"; done\n';
  await writeFile(path.join(programs, 'dpkg-query'), dpkg, { mode: 0o755 });
  const ensure = 'await ensureSystemPrograms({ forTests: true, forLongTests: true, root });';
  return output(runScript(root, `process.getuid = () => 0; ${ensure} console.log('goes on');`, programs));
}

// Regression: what the administrator had enabled since was disabled.
test('a run that has nothing to install removes the policy of a killed one, and disables nothing', async () => {
  const root = await makeSystem();
  await killInstallation(root);
  await symlink('/lib/own.service', path.join(root, WANTS, 'own.service'));
  const { enabled } = await look(root);
  expect(await ensureWithoutMissing(root, 0)).toContain('please check: new.service, own.service, new.conf\n');
  expect(await look(root)).toEqual({ ...untouched, enabled });
});

// Regression: it waited for half an hour, and then failed.
test('a run that has nothing to install goes on beside one that installs', async () => {
  const root = await makeSystem();
  const child = await startInstallation(root, untilInputEnds);
  await once(child.stdout, 'data');
  const before = await look(root);
  expect(await ensureWithoutMissing(root, 1)).toBe('goes on\n');
  expect(await look(root)).toEqual(before);
});

test('an own policy that was moved aside by a killed run is restored', async () => {
  const root = await makeSystem();
  await killInstallation(root);
  await rm(path.join(root, 'usr/sbin/policy-rc.d'));
  expect(await output(runScript(root, 'console.log(await hasPolicy(root)); await revertKilledRun(root);'))).toBe(
    'true\n',
  );
  expect(await look(root)).toMatchObject({ policies: ['policy-rc.d'], policy: OWN_POLICY });
});

test('a policy of the system is no killed run', async () => {
  const root = await makeSystem();
  expect(await output(runScript(root, 'console.log(await hasPolicy(root)); await revertKilledRun(root);'))).toBe(
    'false\n',
  );
  expect(await look(root)).toEqual(untouched);
  await expect(access(path.join(root, 'usr/sbin/policy-rc.d.before-edgeloom'))).rejects.toThrow('ENOENT');
});
