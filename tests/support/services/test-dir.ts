import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../../deploy/services/program.ts';
import { testDirs } from './log-sources.ts';
import { ownerFile, TEST_DIR_PREFIX } from './orphaned-processes.ts';

/**
 * A folder for programs that a test starts, with the path in their arguments or environment, so that cleanup
 * (leftovers.ts) finds them. World-readable for programs that run as nobody.
 */
export async function testDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), TEST_DIR_PREFIX));
  await writeFile(ownerFile(dir), JSON.stringify(await identify(process.pid)));
  await chmod(dir, 0o755);
  testDirs.add(dir);
  return dir;
}
