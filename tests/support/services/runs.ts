// Everything that a run of tests starts or writes outside its checkout carries the path of one folder. A process of its
// own, which outlives the run (run-guard.ts), ends and deletes all of it.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithParent } from '../../../deploy/end-with-parent.ts';
import { identify, isRunning, readIdentity } from '../../../deploy/services/program.ts';

const PREFIX = 'edgeloom-test-';
const ownerFile = (folder: string) => path.join(folder, 'owner.pid');
/** The process that opened the folder. Those that it starts inherit the variable. */
const OWNER_VARIABLE = 'EDGELOOM_TEST_RUN';
const guard = fileURLToPath(new URL('run-guard.ts', import.meta.url));

/** For programs that are no test and may be started by one, such as benches. */
export const isPartOfRun = (): boolean => process.env[OWNER_VARIABLE] !== undefined;

/**
 * Makes the folder of this process' run, and the temporary folder of everything that it starts. A run ends with its
 * process, however that ends.
 */
export async function openRun(): Promise<void> {
  const owner = String(process.pid);
  // Vitest loads its configuration once per project.
  if (process.env[OWNER_VARIABLE] === owner) return;
  process.env[OWNER_VARIABLE] = owner;
  // Set by npm test. A shell that starts vitest in the background may end before it.
  if (process.env['EDGELOOM_TEST_REPORT'] !== undefined) endWithParent();
  const identity = await identify(process.pid);
  const folder = mkdtempSync(path.join(tmpdir(), PREFIX));
  // Like /tmp itself, for programs that run as nobody.
  chmodSync(folder, 0o1777);
  writeFileSync(ownerFile(folder), JSON.stringify(identity));
  // The guard reads the end of this run from its standard input, which the kernel closes. Ctrl-C does not reach it.
  const child = spawn(process.execPath, [guard, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  process.env['TMPDIR'] = folder;
}

/** Ends what is left of killed runs whose guard was killed as well. Folders of other users are theirs to delete. */
export async function endDeadRuns(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = path.join(place, name);
    const owner = await readIdentity(ownerFile(folder));
    // A folder without an owner file is just being created.
    if (owner === null || (await isRunning(owner)) || !(await isMine(folder))) continue;
    // Another run may clean up the same folder.
    await endRun(folder).catch(() => undefined);
  }
}

const isMine = (folder: string) =>
  stat(folder).then(
    ({ uid }) => process.getuid?.() === 0 || uid === process.getuid?.(),
    () => false,
  );

/** PostgreSQL frees its shared memory only if it may end itself. */
const OWN_END_MS = 5000;
/** The kernel may keep a process that waits for a disk. */
const GIVE_UP_MS = 60_000;

/** Ends all processes of a run, and deletes its files. */
export async function endRun(folder: string): Promise<void> {
  const startedAt = Date.now();
  for (let elapsed = 0; elapsed < GIVE_UP_MS; elapsed = Date.now() - startedAt) {
    const left = await processesAndChildrenOf(folder);
    if (left.length === 0) break;
    for (const { pid, name } of left) send(pid, name === 'postgres' && elapsed < OWN_END_MS ? 'SIGQUIT' : 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const outside = (await readdir(OUTSIDE)).filter((name) => name.startsWith(`${path.basename(folder)}-`));
  // A guard and the next run may delete them at the same time.
  for (const left of [folder, ...outside.map((name) => path.join(OUTSIDE, name))])
    await rm(left, { recursive: true, force: true, maxRetries: 5 });
}

const OUTSIDE = '/var/cache';
/** For mkdtemp: a folder outside of the temporary one, which is deleted with the run, too. */
export const outsidePrefix = (): string => path.join(OUTSIDE, `${path.basename(tmpdir())}-`);

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** Processes with the folder in their arguments or environment. */
export async function processesOf(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const { pid, searchedText } of await readProcesses(['environ', 'cmdline']))
    if (searchedText.includes(folder)) found.push(pid);
  return found;
}

interface Process {
  pid: number;
  parent: number;
  name: string;
  searchedText: string;
}

/** Also those that work in the folder: PostgreSQL and nginx overwrite arguments and environment of their workers. */
async function processesAndChildrenOf(folder: string): Promise<Process[]> {
  const all = (await readProcesses(['environ', 'cmdline', 'cwd'])).filter(({ pid }) => pid !== process.pid);
  const found = new Set(all.filter(({ searchedText }) => searchedText.includes(folder)).map(({ pid }) => pid));
  // Until no process has an unknown child.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

type ProcessFile = 'environ' | 'cmdline' | 'cwd';

/** Without what a shell remembers of folders: a person may have looked into the run's folder. */
async function read(pid: string, file: ProcessFile): Promise<string> {
  const text = await (file === 'cwd' ? readlink(`/proc/${pid}/cwd`) : readFile(`/proc/${pid}/${file}`, 'utf8')).catch(
    () => '',
  );
  const lines = text.split('\0').filter((line) => file !== 'environ' || !/^(?:PWD|OLDPWD|_)=/.test(line));
  return lines.join('\0');
}

/** On a terminal only the environment counts, since a person's shell or editor may be in the folder. */
async function readProcesses(files: readonly ProcessFile[]): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: Process[] = [];
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name may contain anything.
    const [, name = '', state, parent, terminal] = /^\d+ \((.*)\) (\S) (\d+) -?\d+ -?\d+ (-?\d+)/s.exec(status) ?? [];
    if (state === undefined || state === 'Z' || state === 'X') continue;
    const texts = await Promise.all(
      files.filter((file) => file === 'environ' || terminal === '0').map((file) => read(pid, file)),
    );
    found.push({ pid: Number(pid), parent: Number(parent), name, searchedText: texts.join('\0') });
  }
  return found;
}
