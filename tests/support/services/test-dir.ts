import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testDirs } from './log-sources.ts';
import { isPartOfRun, openRun } from './runs.ts';

/**
 * A folder for programs that a test or a bench starts, in the folder of the run. World-readable, because PostgreSQL and
 * nginx's workers have other users.
 */
export async function testDir(): Promise<string> {
  if (!isPartOfRun()) await openRun();
  const dir = await mkdtemp(path.join(tmpdir(), 'test-'));
  await chmod(dir, 0o755);
  testDirs.add(dir);
  return dir;
}
