// The image library has native parts, so it is installed beside the bundle in node_modules.
// It may be missing, or the machine's C library may be too old for it.
import { createRequire } from 'node:module';
import type sharp from 'sharp';

const load = createRequire(import.meta.url);

/** Whether the library fits this machine. Does not load it, so that its bugs stay out of the agent. */
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
  // Otherwise the report resolves the names of this process's connections.
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
