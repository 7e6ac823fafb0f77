import { licenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { readLicense } from '../../core/license.ts';
import { routes } from '../../http/bind.ts';

export const licensesRoutes = routes(licenses, {
  own: ({ installation, actor }) => readLicense(installation, actor.clientId),
});
