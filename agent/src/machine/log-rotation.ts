// Renames logs with a timestamp and makes nginx open new ones. Lines written to the old files in between are kept.
import { readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { NginxLayout } from '../layout.ts';

interface Server {
  layout: NginxLayout;
  /** Makes the running nginx reopen its logs. */
  reopen: () => Promise<void>;
}

const NAMES = ['access.json', 'error.log'];
/** Rotated error logs. */
const MAX_OLD_LOGS = 10;
const STAMP = /\.(\d{8}T\d{9}Z)$/;

export async function rotateLogs(servers: readonly Server[], now: Date): Promise<void> {
  const stamp = now.toISOString().replaceAll(/[-:.]/g, '');
  for (const { layout, reopen } of servers) {
    const files = NAMES.map((name) => path.join(layout.logs, name));
    const sizes = await Promise.all(files.map(sizeOf));
    const written = files.filter((_, i) => (sizes[i] ?? 0) > 0);
    if (written.length === 0) continue;
    for (const file of written) await rename(file, `${file}.${stamp}`);
    await reopen();
    // The spool deletes access logs (logs/spool.ts).
    await removeOldLogs(layout.logs, 'error.log');
  }
}

/** The time of the last rotation. Null: none yet. */
export async function lastRotation({ logs }: NginxLayout): Promise<Date | null> {
  const stamps = (await readdir(logs)).flatMap((name) => STAMP.exec(name)?.[1] ?? []).sort();
  const last = stamps.at(-1);
  if (last === undefined) return null;
  const [, year, month, day, hour, minute, second, ms] = /^(....)(..)(..)T(..)(..)(..)(...)Z$/.exec(last) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

async function removeOldLogs(dir: string, name: string): Promise<void> {
  const old = (await readdir(dir)).filter((file) => file.startsWith(`${name}.`) && STAMP.test(file)).sort();
  for (const file of old.slice(0, -MAX_OLD_LOGS)) await rm(path.join(dir, file), { force: true });
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
