// Programs that may outlive this process. Each has its own process group (Ctrl-C must not reach it directly), a log
// file (so that it survives us), and a pid file with its identity, because pids are reused.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

export interface Program {
  name: string;
  command: string;
  args: string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  user?: Owner | undefined;
  stopSignal: NodeJS.Signals;
  /** Time between the stop signal and SIGKILL. */
  stopWithinMs: number;
}

export interface Owner {
  uid: number;
  gid: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Running {
  name: string;
  pid: number;
  logFile: string;
  exited: Promise<Exit>;
  stop: () => Promise<void>;
}

/** `runDir` gets the pid file, `logDir` the log, which is appended to. */
export async function launch(
  program: Program,
  { runDir, logDir }: { runDir: string; logDir: string },
): Promise<Running> {
  await Promise.all([mkdir(runDir, { recursive: true }), mkdir(logDir, { recursive: true })]);
  const logFile = path.join(logDir, `${program.name}.log`);
  const log = await open(logFile, 'a', 0o640);
  const child = spawn(program.command, program.args, {
    ...(program.cwd !== undefined && { cwd: program.cwd }),
    ...program.user,
    env: program.env ?? process.env,
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  // Add both listeners before the first await: the events fire on the next tick.
  try {
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  } finally {
    await log.close();
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program.name} has no pid`);

  const pidFile = path.join(runDir, `${program.name}.pid`);
  const identity = await identify(pid);
  if (identity !== null) await writeFile(pidFile, JSON.stringify(identity));
  return {
    name: program.name,
    pid,
    logFile,
    exited,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(program.stopSignal);
        const late = setTimeout(() => child.kill('SIGKILL'), program.stopWithinMs);
        await exited;
        clearTimeout(late);
      }
      await rm(pidFile, { force: true });
    },
  };
}

/** Stops the process of an earlier run, if its identity matches. Returns its pid or null. */
export async function stopLeftover(
  { name, stopSignal, stopWithinMs }: Pick<Program, 'name' | 'stopSignal' | 'stopWithinMs'>,
  runDir: string,
): Promise<number | null> {
  const pidFile = path.join(runDir, `${name}.pid`);
  const identity = await readIdentity(pidFile);
  const found = identity !== null && (await isRunning(identity));
  if (found) await stopProcess(identity, stopSignal, stopWithinMs);
  await rm(pidFile, { force: true });
  return found ? identity.pid : null;
}

/** Identifies a process: its pid, its start time and the boot. */
const Identity = z.object({ pid: z.int().positive(), startedAtTick: z.string(), boot: z.string() });
export type Identity = z.output<typeof Identity>;

export async function identify(pid: number): Promise<Identity | null> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The second field is the program's name in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const startedAtTick = fields[19];
    if (startedAtTick === undefined || state === 'Z' || state === 'X') return null;
    return { pid, startedAtTick, boot: boot.trim() };
  } catch {
    return null;
  }
}

export async function readIdentity(pidFile: string): Promise<Identity | null> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  try {
    return Identity.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

export async function isRunning(identity: Identity): Promise<boolean> {
  const now = await identify(identity.pid);
  return now !== null && now.startedAtTick === identity.startedAtTick && now.boot === identity.boot;
}

export async function stopProcess(identity: Identity, signal: NodeJS.Signals, withinMs: number): Promise<void> {
  send(identity.pid, signal);
  const deadline = Date.now() + withinMs;
  let killed = false;
  while (await isRunning(identity)) {
    if (!killed && Date.now() > deadline) {
      send(identity.pid, 'SIGKILL');
      killed = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process exited before the signal.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The path of a system program, or null. Also searches sbin, which is often not on the PATH. */
export async function findProgram(name: string): Promise<string | null> {
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/usr/local/bin',
  ];
  for (const folder of folders.filter((folder) => folder !== '')) {
    const file = path.join(folder, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return null;
}
