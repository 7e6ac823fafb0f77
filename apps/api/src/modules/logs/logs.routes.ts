import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './logs.service.ts';

export const logsRoutes = routes(logs, {
  access: (ctx, { body }) => service.access(ctx, body),
  request: (ctx, { params }) => service.request(ctx, params.reqID),
});
