// Downloads an archive from the control plane only. Interrupted downloads resume, and the final file is verified
// against
// the signed hash.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReleaseManifest } from '@edgeloom/contract/edge/releases.ts';
import { reason } from '../log.ts';

export interface Source {
  /** The control plane's address. */
  control: string;
  token: string;
}

/** Timeout without a byte. */
const IDLE_TIMEOUT_MS = 30_000;
/** Consecutive attempts without progress. */
const MAX_TRIES = 8;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** The control plane refused. Retrying is useless. */
class RefusedError extends Error {}

export async function fetchArchive(
  { sha256, bytes }: Pick<ReleaseManifest, 'sha256' | 'bytes'>,
  { control, token }: Source,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const url = `${control.replace(/\/+$/, '')}/api/v1/node/release/${sha256}`;
  let tries = 0;
  for (;;) {
    const before = await sizeOf(file);
    if (before > bytes) await rm(file);
    if (before === bytes) break;
    try {
      await fetchRest(`${url}?from=${before > bytes ? 0 : before}`, token, file, bytes, signal);
    } catch (error) {
      signal.throwIfAborted();
      // A full disk or a refusal would recur.
      if (error instanceof RefusedError || (error instanceof Error && 'syscall' in error && error.syscall === 'write'))
        throw error;
      tries = (await sizeOf(file)) > before ? 0 : tries + 1;
      if (tries >= MAX_TRIES) throw new Error(`the archive was not fetched: ${reason(error)}`, { cause: error });
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS), undefined, { signal });
    }
  }
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  if (hash.digest('hex') === sha256) return;
  await rm(file, { force: true });
  throw new Error('the hash of the archive differs from the signed one');
}

async function fetchRest(url: string, token: string, file: string, bytes: number, signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(
    () => silence.abort(new Error(`nothing received for ${IDLE_TIMEOUT_MS / 1000} s`)),
    IDLE_TIMEOUT_MS,
  );
  const handle = await open(file, 'a', 0o600);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status >= 400 && response.status < 500 && response.status !== 429)
      throw new RefusedError(`the control plane refused the archive: HTTP ${response.status}`);
    if (!response.ok || response.body === null) throw new Error(`the control plane returned HTTP ${response.status}`);
    let { size } = await handle.stat();
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > bytes) throw new RefusedError('the archive is larger than the signed one');
      await handle.writeFile(chunk);
      timer.refresh();
    }
    if (size < bytes) throw new Error(`the download ended after ${size} of ${bytes} bytes`);
    await handle.sync();
  } catch (error) {
    if (error instanceof RefusedError) await handle.truncate(0);
    // fetch reports its reason in `cause`.
    if (error instanceof TypeError && error.cause instanceof Error) throw error.cause;
    throw error;
  } finally {
    clearTimeout(timer);
    await handle.close();
  }
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
