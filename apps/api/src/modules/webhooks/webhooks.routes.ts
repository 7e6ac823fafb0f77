import { webhooks } from '@edgeloom/contract/webhooks/webhooks.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './webhooks.service.ts';

export const webhooksRoutes = routes(webhooks, {
  list:       (ctx, { query }) => service.list(ctx, query),
  create:     (ctx, { body }) => service.create(ctx, body),
  update:     (ctx, { body }) => service.update(ctx, body),
  remove:     (ctx, { body }) => service.remove(ctx, body.ids),
  deliveries: (ctx, { params, query }) => service.deliveries(ctx, params.webhookID, query),
  resend:     (ctx, { params, body }) => service.resend(ctx, params.webhookID, body.ids),
});
