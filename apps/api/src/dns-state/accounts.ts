// Operators' DNS accounts: sealed credentials, and which accounts have pending changes.
import type { DnsCredentials, DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import * as z from 'zod';
import type { Installation } from '../core/installation.ts';
import { openCredentials } from '../dns/credentials.ts';
import type { DnsAccount } from '../dns/account.ts';
import { openDns } from '../dns/provider.ts';
import { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import { offeredLines } from './offered-lines.ts';
import type { Offer } from './records.ts';

/** Verifies an account: the zone exists. Returns its lines. */
export async function verifyAccount(env: Installation['env'], credentials: DnsCredentials, rootDomain: string) {
  const account = openDns(env, credentials);
  const records = await account.list(rootDomain);
  return { records, offer: await offerOf(credentials.provider, account, rootDomain) };
}
export const offerOf = async (provider: DnsProvider, account: DnsAccount, rootDomain: string): Promise<Offer> => ({
  lines: offeredLines(provider, await account.lines(rootDomain)),
  weighting: await account.weighting(rootDomain),
});

export interface Setting {
  id: string;
  clientId: string;
  provider: DnsCredentials['provider'];
  /** Differ when the account was replaced under the same domain. */
  credentialsSealed: string;
  rootDomain: string;
  account: DnsAccount;
  /** Null until the zone was listed for the first time. */
  offer: Offer | null;
  isListDue: boolean;
  tries: number;
}
const Row = z.object({
  id: z.string(),
  clientId: z.string(),
  provider: z.string(),
  credentialsSealed: z.string(),
  rootDomain: z.string(),
  lines: z.record(z.string(), z.string()).nullable(),
  weighting: Weighting.nullable(),
  isListDue: z.boolean(),
  tries: z.int(),
});

/** Whether the account is still the one that was opened. Results for a replaced account are discarded. */
export const IS_SAME = 'EXISTS (SELECT FROM dns_settings s WHERE s.id = $1 AND s.credentials_sealed = $2)';

const WAITING = `SELECT s.setting_id AS id FROM dns_setting_states s
  WHERE (s.held_until IS NULL OR s.held_until <= now())
    AND (s.list_due_at <= now() OR EXISTS (SELECT FROM dns_names n WHERE n.setting_id = s.setting_id AND n.due_at <= now()))`;
/** Accounts with pending changes that may be called now. */
export async function pendingSettings({ pool }: Pick<Installation, 'pool'>): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(WAITING);
  return rows.map(({ id }) => id);
}

/** The current account. Null: deleted, or backing off. */
export async function openPending(
  { pool, env, secrets }: Pick<Installation, 'pool' | 'env' | 'secrets'>,
  id: string,
): Promise<Setting | null> {
  const { rows } = await pool.query(
    `SELECT s.id, s.client_id AS "clientId", s.dns_type AS provider, s.credentials_sealed AS "credentialsSealed",
       s.root_domain AS "rootDomain", t.offered_lines AS lines, t.weighting, t.list_due_at <= now() AS "isListDue", t.tries
     FROM dns_settings s JOIN dns_setting_states t ON t.setting_id = s.id
     WHERE s.id = $1 AND (t.held_until IS NULL OR t.held_until <= now())`,
    [id],
  );
  if (rows.length === 0) return null;
  const { lines, weighting, ...row } = Row.parse(rows[0]);
  const credentials = openCredentials(secrets, 'dns_settings', row);
  const offer = lines && weighting && { lines, weighting };
  return { ...row, provider: credentials.provider, account: openDns(env, credentials), offer };
}
