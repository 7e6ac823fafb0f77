import { alerts } from '@edgeloom/contract/alerts/alerts.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './alerts.service.ts';

export const alertsRoutes = routes(alerts, {
  list: (ctx, { query }) => service.list(ctx, query),
});
