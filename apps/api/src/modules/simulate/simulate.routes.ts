import { simulate as endpoints } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { routes } from '../../http/bind.ts';
import type { Drafts } from '../../http/draft.ts';
import * as replay from './replay.service.ts';
import * as simulate from './simulate.service.ts';

export const simulateRoutes = (drafts: Drafts) =>
  routes(endpoints, {
    run: (ctx, { params, body }) => simulate.run(ctx, drafts, params.siteId, body),
    replay: (ctx, { params, body }) => replay.run(ctx, drafts, params.siteId, body),
  });
