// Keeps packages that apt installs from starting or enabling services. Plain JavaScript for bootstrap.mjs. `root` is
// the folder of the system, which tests replace.
import { execFile } from 'node:child_process';
import { access, chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { line } from './steps.mjs';

const run = promisify(execFile);

const policyFile = (root) => path.join(root, 'usr/sbin/policy-rc.d');
/** The system's own policy during an installation. */
const asideFile = (root) => path.join(root, 'usr/sbin/policy-rc.d.before-edgeloom');
const HEAD = '#!/bin/sh\n# Put here by Edgeloom while it installs packages: no service may be started.\n';
const SNAPSHOT = '# Enabled before: ';
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];
/** With the snapshot, so that the next run can show what was enabled since. */
const policyText = (snapshot) => `${HEAD}${SNAPSHOT}${JSON.stringify(snapshot)}\nexit 101\n`;

/**
 * Runs `task` while packages cannot start services. Afterwards disables the services and nginx modules that were
 * enabled meanwhile.
 */
export async function withoutServices(task, root = '/') {
  const before = await takeSnapshot(root);
  const ignore = () => undefined;
  // A terminal that is closed sends SIGHUP, and takes no more output.
  for (const signal of SIGNALS) process.on(signal, ignore);
  process.stdout.on('error', ignore);
  try {
    await forbidStarts(before, root);
    return await task();
  } finally {
    await revert(before, root);
    for (const signal of SIGNALS) process.off(signal, ignore);
    process.stdout.off('error', ignore);
  }
}

/** Whether the policy of a run is there. Without the lock it may also be one that still runs. */
export async function hasPolicy(root = '/') {
  const [policy, aside] = await Promise.all([readPolicy(root), readFile(asideFile(root)).catch(() => null)]);
  return policy.startsWith(HEAD) || (policy === '' && aside !== null);
}

/**
 * Removes the policy of a killed run. Nothing may run that installs packages. Services and modules of nginx that were
 * enabled since stay, because they may be the administrator's.
 */
export async function revertKilledRun(root = '/') {
  const before = snapshotOf(await readPolicy(root));
  await restorePolicy(root);
  if (before === null) return;
  const { units, scripts } = await findNewServices(before, root);
  const modules = (await findLinks(MODULE_FOLDERS, root)).filter((link) => !before.modules.includes(link));
  const names = [...units, ...scripts, ...modules.map((link) => path.basename(link))];
  if (names.length > 0) line(`Enabled since an installation was killed, please check: ${names.join(', ')}`);
}

/** The policy is removed last, so that no service starts meanwhile. */
async function revert(before, root) {
  try {
    await disableNewServices(before, root);
  } finally {
    await restorePolicy(root);
  }
}

async function forbidStarts(before, root) {
  if (await doesPolicyDenyNginx(root)) return;
  await rename(policyFile(root), asideFile(root)).catch(ignoreMissingFile);
  await writeFile(policyFile(root), policyText(before));
  await chmod(policyFile(root), 0o755);
}

/** A policy that is not ours stays. */
async function restorePolicy(root) {
  const policy = await readPolicy(root);
  if (policy.startsWith(HEAD)) await rm(policyFile(root));
  else if (policy !== '') return;
  await rename(asideFile(root), policyFile(root)).catch(ignoreMissingFile);
}

const readPolicy = (root) => readFile(policyFile(root), 'utf8').catch(() => '');

/** Null without a policy of ours, or if its run was killed while it wrote the file. */
function snapshotOf(policy) {
  if (!policy.startsWith(HEAD)) return null;
  const text = policy.split('\n').find((each) => each.startsWith(SNAPSHOT));
  try {
    return JSON.parse(text.slice(SNAPSHOT.length));
  } catch {
    return null;
  }
}

/** A policy that denies nginx (as in containers, where it denies all services) is kept. */
const doesPolicyDenyNginx = (root) =>
  run(policyFile(root), ['nginx', 'start']).then(
    () => false,
    (error) => error.code === 101,
  );

function ignoreMissingFile(error) {
  if (error.code !== 'ENOENT') throw error;
}

/** Services are enabled by links in these folders. */
const SERVICE_FOLDERS = ['etc/systemd/system', 'etc/rc2.d', 'etc/rc3.d', 'etc/rc4.d', 'etc/rc5.d'];
/** nginx loads the modules that have a link in this folder. */
const MODULE_FOLDERS = ['etc/nginx/modules-enabled'];

async function takeSnapshot(root) {
  const hadNginx = await access(path.join(root, 'usr/sbin/nginx')).then(
    () => true,
    () => false,
  );
  return { links: await findLinks(SERVICE_FOLDERS, root), hadNginx, modules: await findLinks(MODULE_FOLDERS, root) };
}

async function findNewServices(before, root) {
  const added = (await findLinks(SERVICE_FOLDERS, root)).filter((link) => !before.links.includes(link));
  const inSystemd = added.filter((link) => link.includes('/etc/systemd/'));
  const units = [...new Set(inSystemd.map((link) => path.basename(link)))].sort();
  const scripts = new Set(added.flatMap((link) => /\/etc\/rc\d\.d\/S\d\d(.+)$/.exec(link)?.[1] ?? []));
  return { inSystemd, units, scripts };
}

async function disableNewServices(before, root) {
  const { inSystemd, units, scripts } = await findNewServices(before, root);
  if (units.length > 0) await run('systemctl', ['disable', '--quiet', ...units]).catch(() => undefined);
  for (const script of scripts) await run('update-rc.d', [script, 'disable']).catch(() => undefined);
  // Without systemctl (containers), and for links that systemctl does not count as enabled (aliases).
  for (const link of inSystemd) await rm(link, { force: true });
  if (units.length > 0) line(`Left disabled: ${units.join(', ')}`);

  // The system's nginx would load the new modules at its next start. Our nginx loads modules explicitly.
  if (!before.hadNginx) return;
  const modules = await findLinks(MODULE_FOLDERS, root);
  for (const link of modules) if (!before.modules.includes(link)) await rm(link, { force: true });
}

async function findLinks(folders, root) {
  const links = [];
  for (const folder of folders.map((each) => path.join(root, each))) {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isSymbolicLink()) links.push(path.join(entry.parentPath ?? entry.path, entry.name));
    }
  }
  return links;
}
