import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../deploy/services/program.ts';
import { ownerFile, prefix } from './leftovers.ts';

/** A folder for programs that a test starts, which have it in their arguments or environment. It says whose it is, so that
 *  what is left behind can be stopped (leftovers.ts). Those that run as nobody have to get in. */
export async function testDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), prefix));
  await writeFile(ownerFile(dir), JSON.stringify(await identify(process.pid)));
  await chmod(dir, 0o755);
  return dir;
}
