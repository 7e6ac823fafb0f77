// The library that images are made WebP with. It has native parts, so it is no part of the bundle: it lies beside it, in
// node_modules, or is not there; a machine whose C library is too old for it counts as one without.
import { createRequire } from 'node:module';
import type sharp from 'sharp';

const load = createRequire(import.meta.url);

/** Whether it is here for this machine. Looks and does not load: a fault in it must not be the agent's. */
export function canConvert(): boolean {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'linux' && !isRecent(glibc())) return false;
  try {
    createRequire(load.resolve('sharp')).resolve(`@img/sharp-${platform}/sharp.node`);
    return true;
  } catch {
    return false;
  }
}

export const loadLibrary = (): typeof sharp => load('sharp');

function glibc(): string {
  // Names of whom this process is connected to would be looked up.
  if ('excludeNetwork' in process.report) process.report.excludeNetwork = true;
  const report: unknown = process.report.getReport();
  if (typeof report !== 'object' || report === null || !('header' in report)) return '';
  const { header } = report;
  if (typeof header !== 'object' || header === null || !('glibcVersionRuntime' in header)) return '';
  return String(header.glibcVersionRuntime);
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 28);
}
