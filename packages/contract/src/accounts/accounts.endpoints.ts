import * as z from 'zod';
import { AccountKind, AccountStatus } from '../auth/auth.ts';
import { Id, Ids, Meta, MetaQuery, Named, paged, paging } from '../common/common.ts';
import { del, get, onAdmin, onClient, onEvery, onSites, patch, post, put } from '../endpoint.ts';
import { Account, AccountInput, AccountUpdate, AssignedUser, SiteUsersInput, ZoneIDs } from './accounts.ts';

const Page = paging(['createdAt', 'name', 'email', 'status', 'expiry'], 10);
const Filter = {
  auth: AccountKind.optional(),
  isRoot: z.boolean().optional(),
  client: Id.optional().describe('Of one operator: for administrators'),
  name: z.string().max(256).optional().describe('Part of the name, the e-mail or the company'),
  status: z.array(AccountStatus).optional(),
  roleID: Id.optional(),
  loginNotify: z.boolean().optional(),
  googleVerification: z.boolean().optional(),
};

export const accounts = onEvery('accounts', {
  list:   get('accounts', { can: 'account:read', query: Page.extend(Filter), reply: paged(Account) }),
  get:    get('account/:id', { can: 'account:read', reply: Account }),
  subs:   get('account/:id/subs', { can: 'account:read', query: Page, reply: paged(Account) }),
  create: post('account', { can: 'account:write', limit: 'mail', body: AccountInput, reply: Account, fails: ['EMAIL_TAKEN', 'PERMISSION_DENIED', 'RATE_LIMITED'] }),
  update: put('account', { can: 'account:write', body: AccountUpdate, reply: Account, fails: ['PERMISSION_DENIED'] }),
  remove: del('account', { can: 'account:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE', 'PERMISSION_DENIED'] }),
  resend: post('account/resendEmail', { can: 'account:write', limit: 'mail', body: z.object({ id: Id }), fails: ['PERMISSION_DENIED', 'RATE_LIMITED'] }),
});

/** The sub-accounts of a site's owner to which it is assigned. */
export const siteUsers = onSites('siteUsers', {
  list:     get('site/:siteId/users', { can: 'account:read', query: paging(['name', 'email']), reply: paged(AssignedUser) }),
  assign:   patch('site/users', { can: 'account:write', body: SiteUsersInput, reply: SiteUsersInput, fails: ['PERMISSION_DENIED'] }),
  unassign: del('site/users', { can: 'account:write', body: SiteUsersInput, reply: SiteUsersInput, fails: ['PERMISSION_DENIED'] }),
});

/** The zones assigned to a sub-account of the operator: `clientId` is that account's. */
export const clientZones = onClient('clientZones', {
  get:    get(':clientId/zones', { can: 'account:read', reply: Named }),
  update: put(':clientId/zones', { can: 'account:write', body: ZoneIDs, reply: Named, fails: ['PERMISSION_DENIED'] }),
});

export const clients = onAdmin('clients', {
  meta: get('metaClients', { can: 'account:read', query: MetaQuery, reply: Meta }),
});
