import { nodeReleases } from '@edgeloom/contract/releases/releases.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './releases.service.ts';

export const nodeReleasesRoutes = routes(nodeReleases, {
  archive: (ctx, { params, query }) => service.archive(ctx, params.sha256, query.from),
});
