// Computes argon2id in a worker thread, one task at a time. The event loop and libuv's pool stay free.
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import * as z from 'zod';

// OWASP's second choice for argon2id: 19 MiB and two passes take about 25 ms of one core.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const Task = z.object({ password: z.string(), stored: z.string().nullable() });

parentPort?.on('message', (message: unknown) => {
  const { password, stored } = Task.parse(message);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage(stored === null ? hashSync(password, cost) : verifySync(stored, password));
});
