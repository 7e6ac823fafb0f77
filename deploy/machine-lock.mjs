// A lock for all checkouts on this machine. Linux only, plain JavaScript for bootstrap.mjs.
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const RETRY_MS = 500;

/** Runs `task` while no other process holds the lock. `onWait` is called once if one does. */
export async function withMachineLock(name, task, onWait) {
  let lock = await takeLock(name);
  if (lock === null) onWait();
  for (; lock === null; lock = await takeLock(name)) await setTimeout(RETRY_MS);
  try {
    return await task();
  } finally {
    lock.close();
  }
}

/** An abstract socket: the kernel frees it when its process ends in any way. Null when it is taken. */
const takeLock = (name) =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen({ path: `\0edgeloom-${name}` }, () => resolve(server));
  });
