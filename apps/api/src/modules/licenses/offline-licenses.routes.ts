import { installationLicense, offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import { loadLicense, readInstallationLicense } from '../../core/installation-license.ts';
import { routes } from '../../http/bind.ts';
import * as offline from './offline-licenses.service.ts';

export const offlineLicensesRoutes = routes(offlineLicenses, {
  list:   (ctx, { query }) => offline.list(ctx, query),
  create: (ctx, { body }) => offline.create(ctx, body),
  update: (ctx, { body }) => offline.update(ctx, body),
  remove: (ctx, { body }) => offline.remove(ctx, body.ids),
  issue:  (ctx, { body }) => offline.issue(ctx, body),
  free:   (ctx, { body }) => offline.free(ctx, body.id),
});

export const installationLicenseRoutes = routes(installationLicense, {
  get:  ({ installation }) => readInstallationLicense(installation),
  load: ({ installation }, { body }) => loadLicense(installation, body.license),
});
