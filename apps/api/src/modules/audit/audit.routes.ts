import { audit as endpoints } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as audit from './audit.service.ts';

export const auditRoutes = routes(endpoints, {
  search: (ctx, { body }) => audit.search(ctx, body),
  get: (ctx, { params, query }) => audit.get(ctx, params.reqID, query),
});
