// Locks between a user's checkouts on this machine, by name. Linux only, plain JavaScript for bootstrap.mjs.
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Trouble } from './steps.mjs';

const MAX_WAIT_SECONDS = 1800;

/** Only root can write to /run. Other users often share one temporary folder, so the file's name has the user's id. */
const user = process.getuid();
export const lockFile = (name) =>
  user === 0 ? `/run/edgeloom-${name}.lock` : path.join(tmpdir(), `edgeloom-${user}-${name}.lock`);

/**
 * Runs `task` while no other process has the lock. `onWait` is called once if one does. The task gets the lock's file
 * descriptor: programs that inherit it have the lock, too, until they end. The kernel frees the lock of a killed
 * process.
 */
export async function withMachineLock(name, task, onWait, maxWaitSeconds = MAX_WAIT_SECONDS) {
  // Users who can open the file can lock it.
  const lock = await open(lockFile(name), 'a', 0o600);
  try {
    if (!(await takeLock(lock.fd, 0))) {
      onWait();
      if (!(await takeLock(lock.fd, maxWaitSeconds)))
        throw new Trouble(`Another process does not free a lock. See which one:\n\n  fuser -v ${lockFile(name)}\n`);
    }
    return await task(lock.fd);
  } finally {
    await lock.close();
  }
}

/** Runs `task` if no other process has the lock. */
export async function tryMachineLock(name, task) {
  const lock = await open(lockFile(name), 'a', 0o600);
  try {
    if (await takeLock(lock.fd, 0)) await task();
  } finally {
    await lock.close();
  }
}

/** Node has no flock. The lock belongs to the open file that both processes share, and stays when flock ends. */
const takeLock = (fd, seconds) =>
  new Promise((resolve, reject) => {
    const child = spawn('flock', ['--timeout', String(seconds), '3'], { stdio: ['ignore', 'ignore', 'inherit', fd] });
    child.once('error', reject).once('close', (code, signal) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else reject(new Error(`flock ended with ${code ?? signal}`));
    });
  });
