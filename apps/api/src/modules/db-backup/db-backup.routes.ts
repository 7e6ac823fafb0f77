import { dbBackup } from '@edgeloom/contract/db-backup/db-backup.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './db-backup.service.ts';

export const dbBackupRoutes = routes(dbBackup, {
  get:    (ctx) => service.get(ctx),
  update: (ctx, { body }) => service.update(ctx, body),
  run:    (ctx) => service.run(ctx),
  files:  (ctx) => service.files(ctx),
});
