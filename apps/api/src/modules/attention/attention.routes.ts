import { attention } from '@edgeloom/contract/attention/attention.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './attention.service.ts';

export const attentionRoutes = routes(attention, {
  list: (ctx) => service.list(ctx),
});
