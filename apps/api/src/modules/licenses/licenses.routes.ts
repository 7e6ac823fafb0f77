import { licenses, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { fail } from '../../core/fail.ts';
import { readLicense } from '../../core/license.ts';
import { routes } from '../../http/bind.ts';
import { listOperatorLicenses } from './operator-licenses.ts';

export const licensesRoutes = routes(licenses, {
  own: ({ installation, actor }) => readLicense(installation, actor.clientId),
});

export const operatorLicensesRoutes = routes(operatorLicenses, {
  list: (ctx, { query }) => listOperatorLicenses(ctx, query),
  get: async ({ installation, db }, { params: { accountId } }) => {
    const account = await db.account.findUnique({ where: { id: accountId, kind: 'client' } });
    return account?.clientId == null ? fail('NOT_FOUND') : readLicense(installation, account.clientId);
  },
});
