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
const SILENT_MS = 30_000;
/** Consecutive attempts without progress. */
const TRIES = 8;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

/** The control plane refused. Retrying is useless. */
class Refused extends Error {}

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
      if (error instanceof Refused || (error instanceof Error && 'syscall' in error && error.syscall === 'write'))
        throw error;
      tries = (await sizeOf(file)) > before ? 0 : tries + 1;
      if (tries >= TRIES) throw new Error(`the archive was not fetched: ${reason(error)}`, { cause: error });
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS), undefined, { signal });
    }
  }
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  if (hash.digest('hex') === sha256) return;
  await rm(file, { force: true });
  throw new Error('the archive is not what was signed: its hash is another');
}

async function fetchRest(url: string, token: string, file: string, bytes: number, signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`nothing came for ${SILENT_MS / 1000} s`)), SILENT_MS);
  const handle = await open(file, 'a', 0o600);
  try {
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new Refused(`the control plane does not hand the archive out: it answers ${answer.status}`);
    if (!answer.ok || answer.body === null) throw new Error(`the control plane answers ${answer.status}`);
    let { size } = await handle.stat();
    for await (const chunk of answer.body) {
      size += chunk.length;
      if (size > bytes) throw new Refused('more came than was signed');
      await handle.writeFile(chunk);
      timer.refresh();
    }
    if (size < bytes) throw new Error(`the line was cut after ${size} of ${bytes} bytes`);
    await handle.sync();
  } catch (error) {
    if (error instanceof Refused) await handle.truncate(0);
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
