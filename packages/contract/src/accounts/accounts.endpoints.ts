import * as z from 'zod';
import { AccountKind, AccountStatus } from '../auth/auth.ts';
import { paged, paging } from '../common/common.ts';
import { get, onClient } from '../endpoint.ts';
import { Account } from './accounts.ts';

export const accounts = onClient('accounts', {
  list: get('accounts', { can: 'account:read', query: paging(['createdAt', 'name', 'email'], 10).extend({ auth: AccountKind.optional(), name: z.string().max(256).optional(), status: AccountStatus.optional() }), reply: paged(Account) }),
});
