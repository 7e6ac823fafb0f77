import * as z from 'zod';
import { get, onClient, post, put } from '../endpoint.ts';
import { DbBackup, DbBackupFile, DbBackupInput } from './db-backup.ts';

const can = 'backup:read';

// Files contain the data of all accounts, so no call sends them, and only the root account chooses their folder.
export const dbBackup = onClient('dbBackup', {
  get:    get('setting/system/DBBackup', { can, reply: DbBackup }),
  update: put('setting/system/DBBackup', { can: 'backup:write', own: true, body: DbBackupInput, reply: DbBackup }),
  /** Starts a backup, unless one is waiting or running. */
  run:    post('setting/system/DBBackup/run', { can: 'backup:write', reply: DbBackup }),
  files:  get('setting/system/DBBackup/files', { can, reply: z.object({ data: z.array(DbBackupFile) }) }),
});
