import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../deploy/services/program.ts';

/** A folder for programs that a test starts, with their pid files in `run`. It says whose it is, so that a later run can
 *  stop what a killed one left behind (start-services.ts). PostgreSQL runs as nobody and has to get in. */
export async function testDir(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-test-'));
  await writeFile(path.join(dir, 'owner.pid'), JSON.stringify(await identify(process.pid)));
  await chmod(dir, 0o755);
  return dir;
}
