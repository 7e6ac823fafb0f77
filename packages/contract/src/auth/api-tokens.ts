import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { Cidr, noDuplicateIP } from '../common/net.ts';
import { Permissions } from '../roles/roles.ts';

export const ApiTokenInput = z.object({
  name: Text,
  permissions: Permissions.min(1).describe('Of these it may what its account may at the time of a call'),
  expiresAt: Time.nullable().default(null),
  cidrs: z
    .array(Cidr)
    .max(50)
    .superRefine(noDuplicateIP)
    .default([])
    .describe('Where it may be used from; empty: everywhere'),
});
export const ApiToken = z.object({
  id: Id,
  name: Text,
  permissions: z.array(z.string()),
  cidrs: z.array(z.string()),
  expiresAt: Time.nullable(),
  lastUsedAt: Time.nullable().describe('To the minute'),
  createdAt: Time,
});
export const NewApiToken = z.object({ id: Id, refreshToken: z.string().describe('The token, shown this once') });
export type ApiToken = z.output<typeof ApiToken>;
export type ApiTokenInput = z.output<typeof ApiTokenInput>;
