import { failAt } from '../../core/fail.ts';
import { runInWorker } from '../../core/worker-pool.ts';
import type { Opened } from './pkcs12.worker.ts';

const PATIENCE_MS = 10_000;
const worker = new URL('pkcs12.worker.ts', import.meta.url);

/** Key and certificates of a PKCS#12 file (.p12, .pfx), as PEM. */
export async function openPkcs12(input: {
  pkcs12: string;
  password: string;
}): Promise<{ chainPem: string; keyPem: string }> {
  const opened = await runInWorker<Opened>(worker, input, { fallback: { fault: 'format' }, timeoutMs: PATIENCE_MS });
  if (!('fault' in opened)) return opened;
  return opened.fault === 'password'
    ? failAt('password', 'password', 'not the password of this file')
    : failAt('pkcs12', 'format', 'a PKCS#12 file with a key and its certificate');
}
