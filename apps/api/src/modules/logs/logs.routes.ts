import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './logs.service.ts';
import { sessions } from './sessions.service.ts';
import { tail } from './tail.service.ts';
import { wafLog } from './waf.service.ts';

export const logsRoutes = routes(logs, {
  access: (ctx, { body }) => service.access(ctx, body),
  request: (ctx, { params }) => service.request(ctx, params.reqID),
  sessions: (ctx, { body }) => sessions(ctx, body),
  waf:     (ctx, { body }) => wafLog(ctx, body),
  tail:    (ctx, { query }) => tail(ctx, query),
});
