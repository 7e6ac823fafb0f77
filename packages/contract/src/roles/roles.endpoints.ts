import * as z from 'zod';
import { Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { del, get, onEvery, post, put } from '../endpoint.ts';
import { PermissionCatalogue, Role, RoleAssignment, RoleInput } from './roles.ts';

export const roles = onEvery('roles', {
  list:   get('roles', { can: 'role:read', query: paging(['createdAt', 'name', 'updatedAt'], 10).extend({ name: z.string().max(256).optional() }), reply: paged(Role) }),
  meta:   get('metaRoles', { can: 'account:read', query: MetaQuery, reply: Meta }),
  permissions: get('permissions', { can: 'signedIn', reply: PermissionCatalogue }),
  create: post('role', { can: 'role:write', body: RoleInput, reply: Role, fails: ['DUPLICATED', 'LIMIT_REACHED', 'PERMISSION_DENIED'] }),
  update: put('role/:id', { can: 'role:write', body: RoleInput, reply: Role, fails: ['DUPLICATED', 'PERMISSION_DENIED'] }),
  remove: del('role/:id', { can: 'role:write', reply: Ids, fails: ['STILL_IN_USE', 'PERMISSION_DENIED'] }),
  assign: put('account/role', { can: 'account:write', body: RoleAssignment, reply: RoleAssignment, fails: ['NOT_FOUND', 'PERMISSION_DENIED'] }),
});
