import { Worker } from 'node:worker_threads';
import { failAt } from '../../core/fail.ts';
import type { Opened } from './pkcs12.worker.ts';

const PATIENCE_MS = 10_000;

/** Key and certificates of a PKCS#12 file (.p12, .pfx), as PEM. */
export async function openPkcs12(input: {
  pkcs12: string;
  password: string;
}): Promise<{ chainPem: string; keyPem: string }> {
  const opened = await inThread(input);
  if (!('fault' in opened)) return opened;
  return opened.fault === 'password'
    ? failAt('password', 'password', 'not the password of this file')
    : failAt('pkcs12', 'format', 'a PKCS#12 file with a key and its certificate');
}

async function inThread(workerData: { pkcs12: string; password: string }): Promise<Opened> {
  const worker = new Worker(new URL('pkcs12.worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const { promise, resolve } = Promise.withResolvers<Opened>();
  const unread: Opened = { fault: 'format' };
  worker.once('message', resolve);
  // Out of memory, or ended by the clock.
  worker.once('error', () => resolve(unread));
  worker.once('exit', () => resolve(unread));
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS);
  const opened = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return opened;
}
