// Queries for accounts: a page, one account, and counts.
import type { Account, AccountKind, AccountStatus } from '@edgeloom/contract/accounts/accounts.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, contains, pageSql, sql, type Sql } from '../../core/sql.ts';

export interface AccountFilter {
  auth?: AccountKind | undefined;
  isRoot?: boolean | undefined;
  client?: string | undefined;
  name?: string | undefined;
  status?: AccountStatus[] | undefined;
  roleID?: string | undefined;
  loginNotify?: boolean | undefined;
  googleVerification?: boolean | undefined;
  /** Only sub-accounts of this account. */
  subsOf?: string;
  id?: string;
  ids?: string[];
}
export type AccountPaging = Paging<'createdAt' | 'name' | 'email' | 'status' | 'expiry'>;
export type AccountRow = Omit<Account, 'manageable'>;

const hasAuthenticator = sql`a.login2fa_type = 1`;
// All sites of the account are counted, also those the caller does not see: the warning before a lock shows this
// number.
const columns = sql`a.id, a.email, a.name, a.kind AS auth, a.status, a.is_root AS "isRoot", a.language,
  a.phone, a.address, a.company_name AS "companyName", a.company_phone AS "companyPhone", a.company_tax_id AS "companyTaxID",
  parent.id AS "parentID", parent.name AS "parentName", r.id AS "roleID", r.name AS "roleName",
  CASE WHEN a.is_root THEN 0 ELSE 1 END AS grade, creator.id AS "createdByID", creator.name AS "createdByName",
  a.login_notify AS "loginNotify", ${hasAuthenticator} AS "googleVerification",
  c.id AS "clientID", c.name AS "clientName", a.expires_at AS expiry,
  a.password_hash IS NOT NULL AS "emailConfirmed",
  CASE WHEN a.password_hash IS NULL THEN
    (SELECT max(m.expires_at) FROM mailed_tokens m WHERE m.account_id = a.id AND m.purpose = 'invitation') END AS "invitationEndsAt",
  (SELECT max(s.created_at) FROM sessions s WHERE s.account_id = a.id AND s.proxy_id IS NULL AND s.api_token_id IS NULL) AS "lastSignInAt",
  CASE WHEN a.kind = 'user' AND a.is_root THEN (SELECT count(*)::int FROM sites s WHERE s.owner_id = a.id)
    WHEN a.kind = 'user' THEN (SELECT count(*)::int FROM site_assignments s WHERE s.account_id = a.id)
    WHEN a.kind = 'client' AND a.is_root THEN (SELECT count(*)::int FROM sites s WHERE s.client_id = a.client_id) END AS "siteCount",
  CASE WHEN a.kind = 'client' AND NOT a.is_root THEN
    (SELECT count(*)::int FROM zone_assignments z WHERE z.account_id = a.id) END AS "zoneCount",
  CASE WHEN a.is_root THEN
    (SELECT count(*)::int FROM accounts s WHERE s.parent_id = a.id AND NOT s.is_root) END AS "subCount",
  a.created_at AS "createdAt", a.updated_at AS "updatedAt"`;
/** Accounts of a higher console are hidden, also as creators. */
const met: Readonly<Record<Family, readonly AccountKind[]>> = {
  admin: ['admin', 'client', 'user'],
  client: ['client', 'user'],
  user: ['user'],
};
const tables = (kind: Family) => sql`accounts a LEFT JOIN accounts parent ON parent.id = a.parent_id AND NOT a.is_root
  LEFT JOIN roles r ON r.id = a.role_id LEFT JOIN clients c ON c.id = a.client_id
  LEFT JOIN accounts creator ON creator.id = a.created_by_id AND creator.kind = ANY(${met[kind]}::account_kind[])`;
const sorted = {
  createdAt: sql`a.created_at`,
  name: sql`a.name`,
  email: sql`a.email`,
  status: sql`a.status`,
  expiry: sql`a.expires_at`,
};

export const readAccounts = ({ db, actor }: Ctx, paging: AccountPaging, filter: AccountFilter): Promise<AccountRow[]> =>
  db.$read(
    ({ account }) =>
      sql`SELECT ${columns} FROM ${tables(actor.kind)} WHERE ${account}${where(filter)} ${pageSql(paging, sorted, sql`a.id`)}`,
  );

export async function readAccount({ db, actor }: Ctx, id: string): Promise<AccountRow | null> {
  const [row] = await db.$read<AccountRow>(
    ({ account }) => sql`SELECT ${columns} FROM ${tables(actor.kind)} WHERE ${account}${where({ id })}`,
  );
  return row ?? null;
}

export async function countAccounts({ db }: Ctx, filter: AccountFilter): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ account }) => sql`SELECT count(*)::int AS total FROM accounts a WHERE ${account}${where(filter)}`,
  );
  return row?.total ?? 0;
}

const where = ({
  auth,
  isRoot,
  client,
  name,
  status,
  roleID,
  loginNotify,
  googleVerification,
  subsOf,
  id,
  ids,
}: AccountFilter): Sql =>
  andAll([
    id && sql`a.id = ${id}`,
    ids && sql`a.id = ANY(${ids}::uuid[])`,
    subsOf && sql`a.parent_id = ${subsOf} AND NOT a.is_root`,
    auth && sql`a.kind = ${auth}::account_kind`,
    isRoot !== undefined && sql`a.is_root = ${isRoot}`,
    client && sql`a.client_id = ${client}`,
    name &&
      sql`(${contains(sql`a.name`, name)} OR ${contains(sql`a.email`, name)} OR ${contains(sql`a.company_name`, name)})`,
    status && sql`a.status = ANY(${status}::account_status[])`,
    roleID && sql`a.role_id = ${roleID}`,
    loginNotify !== undefined && sql`a.login_notify = ${loginNotify}`,
    googleVerification !== undefined && sql`(${hasAuthenticator}) = ${googleVerification}`,
  ]);
