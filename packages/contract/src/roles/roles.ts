import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { permissions } from '../permissions.ts';

/** Writing implies reading. Both are stored. */
export const Permissions = z.array(z.enum(permissions)).max(permissions.length);

export const RoleInput = z.object({ name: Text, permissions: Permissions });
export const Role = z.object({
  id: Id,
  name: Text,
  permissions: z.array(z.string()),
  accountCount: z.int().describe('How many sub-accounts hold it'),
  mine: z.boolean().describe('The reader holds it, and so may not change it'),
  createdAt: Time,
  updatedAt: Time,
});
export const RoleAssignment = z.object({ accountID: Id, roleID: Id });
export const PermissionCatalogue = z.object({
  data: z.array(z.string()).describe('What there is to allow in this console'),
});
export type Role = z.output<typeof Role>;
export type RoleInput = z.output<typeof RoleInput>;
export type RoleAssignment = z.output<typeof RoleAssignment>;
