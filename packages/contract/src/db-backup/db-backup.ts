// Backups of the installation's database, which its only operator may set.
import * as z from 'zod';
import { Time } from '../common/common.ts';
import { Folder } from '../common/folder.ts';

export const DbBackupInput = z.object({
  period: z
    .enum(['off', 'day', 'week', 'month'])
    .describe('How often: every day, on Mondays, or on the first day of a month. off: only by a call'),
  time: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'wrong format' })
    .describe('Time of day in UTC'),
  path: Folder.describe('Folder of the files on the server of the API: BACKUP_DIR, or a folder below it'),
  retention: z.int().min(1).max(100).describe('Number of files that are kept'),
});
export const DbBackup = DbBackupInput.extend({
  // Configured on the server.
  path: z.string(),
  nextAt: Time.nullable(),
  status: z.enum(['idle', 'waiting', 'running']),
  progress: z.number().nullable().describe('Share of the tables that the running backup has, from 0 to 1'),
  startedAt: Time.nullable().describe('Start of the last backup'),
  endedAt: Time.nullable().describe('Its end. Null while it runs'),
  lastError: z.string().nullable().describe('Why it failed. Null: it succeeded, or there was none'),
});
export const DbBackupFile = z.object({
  name: z.string(),
  bytes: z.int(),
  createdAt: Time.describe('Start of the backup: the file has the state of this time'),
});

export type DbBackupInput = z.output<typeof DbBackupInput>;
export type DbBackup = z.output<typeof DbBackup>;
export type DbBackupFile = z.output<typeof DbBackupFile>;
