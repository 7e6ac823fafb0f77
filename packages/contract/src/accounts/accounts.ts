import * as z from 'zod';
import { AccountKind, AccountName, AccountStatus, Contact, Email, Language, Standing } from '../auth/auth.ts';
import { Id, Text, Time } from '../common/common.ts';

const Own = Contact.partial().extend({
  expiry: Time.nullable().optional().describe('Until when it may be signed in; null is without an end'),
  clientName: Text.optional().describe('Of an operator, which only an administrator makes'),
});
export const AccountInput = Own.extend({
  email: Email,
  name: AccountName,
  auth: AccountKind.optional().describe('Default: a sub-account in the console of its creator'),
  roleID: Id.nullable().optional().describe('Of a sub-account, which may nothing without one; a root account has none'),
  language: Language.default('zh-TW'),
});
/** `expired` cannot be set: it depends on the expiry date and the current time. */
export const AccountUpdate = Own.extend({
  id: Id,
  name: AccountName.optional(),
  status: AccountStatus.exclude(['expired']).optional(),
});

/** An account, for callers that may manage it or select it. */
export const Account = Contact.extend({
  ...Standing.shape,
  id: Id,
  email: z.string(),
  name: z.string(),
  auth: AccountKind,
  status: AccountStatus,
  isRoot: z.boolean(),
  clientID: Id.nullable().describe('The operator that it belongs to'),
  clientName: z.string().nullable(),
  language: Language,
  expiry: Time.nullable(),
  emailConfirmed: z.boolean().describe('Whether the invitation was taken up'),
  invitationEndsAt: Time.nullable().describe('Of the newest invitation, until it is taken up'),
  lastSignInAt: Time.nullable(),
  siteCount: z.int().nullable().describe('Sites that it owns, or that are assigned to it'),
  zoneCount: z.int().nullable().describe('Zones assigned to it'),
  subCount: z.int().nullable().describe('Sub-accounts of a root account'),
  manageable: z.boolean().describe('Whether the caller may change it'),
  createdAt: Time,
  updatedAt: Time,
});

export const AssignedUser = z.object({ id: Id, name: z.string(), email: z.string(), status: AccountStatus });
export const SiteUsersInput = z.object({
  siteIDs: z.array(Id).min(1).max(1000),
  userIDs: z.array(Id).min(1).max(100),
});
export const ZoneIDs = z.object({ zoneIDs: z.array(Id).max(1000) });

export type Account = z.output<typeof Account>;
export type AccountInput = z.output<typeof AccountInput>;
export type AccountUpdate = z.output<typeof AccountUpdate>;
export type AccountKind = z.output<typeof AccountKind>;
export type AccountStatus = z.output<typeof AccountStatus>;
export type AssignedUser = z.output<typeof AssignedUser>;
export type SiteUsersInput = z.output<typeof SiteUsersInput>;
