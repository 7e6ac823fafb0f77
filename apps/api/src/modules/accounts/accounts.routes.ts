import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './accounts.service.ts';

export const accountsRoutes = routes(accounts, {
  list: (ctx, { query }) => service.list(ctx, query),
});
