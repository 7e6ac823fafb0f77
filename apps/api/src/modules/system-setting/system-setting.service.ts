import type {
  AccountVerify,
  OutgoingURL,
  RestrictGroupCIDRs,
  SystemSettings,
} from '@edgeloom/contract/system-setting/system-setting.ts';
import { assertAllZones } from '../../core/all-zones.ts';
import { hasOwnFactor } from '../../core/auth/must-verify.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import * as dbBackup from '../db-backup/db-backup.service.ts';
import * as nameProofSetting from '../name-proof-setting/name-proof-setting.service.ts';

interface Columns {
  outgoingUrl: string | null;
  accountVerify: boolean;
  restrictGroupCidrs: string[];
}
const defaults: Columns = { outgoingUrl: null, accountVerify: false, restrictGroupCidrs: [] };
const select = { outgoingUrl: true, accountVerify: true, restrictGroupCidrs: true } as const;

const read = async ({ db }: Ctx): Promise<Columns> => (await db.systemSetting.findFirst({ select })) ?? defaults;

const write = ({ db, actor: { clientId } }: Ctx, columns: Partial<Columns>): Promise<Columns> =>
  db.$transaction((tx) =>
    tx.systemSetting.upsert({ where: { clientId }, update: columns, create: { ...columns, clientId }, select }),
  );

/** Links in mails and second factors protect the root account from its sub-accounts. */
const assertRoot = ({ actor }: Ctx) => actor.isRoot || fail('PERMISSION_DENIED');

const outgoingURL = ({ outgoingUrl }: Columns): OutgoingURL => ({ outgoingURL: outgoingUrl });
const accountVerify = (columns: Columns): AccountVerify => ({ accountVerify: columns.accountVerify });
const restrictGroupCIDRs = ({ restrictGroupCidrs: cidrs }: Columns): RestrictGroupCIDRs => ({ cidrs });

export async function getAll(ctx: Ctx): Promise<SystemSettings> {
  const [columns, nameProof, DBBackup] = await Promise.all([read(ctx), nameProofSetting.get(ctx), dbBackup.find(ctx)]);
  return {
    outgoingURL: outgoingURL(columns),
    accountVerify: accountVerify(columns),
    restrictGroupCIDRs: restrictGroupCIDRs(columns),
    nameProof,
    DBBackup,
  };
}

export const getOutgoingURL = async (ctx: Ctx) => outgoingURL(await read(ctx));
export const getAccountVerify = async (ctx: Ctx) => accountVerify(await read(ctx));
export const getRestrictGroupCIDRs = async (ctx: Ctx) => restrictGroupCIDRs(await read(ctx));

export async function setOutgoingURL(ctx: Ctx, input: OutgoingURL) {
  assertRoot(ctx);
  if (input.outgoingURL !== null) await assertOwnConsole(ctx, new URL(input.outgoingURL));
  return outgoingURL(await write(ctx, { outgoingUrl: input.outgoingURL }));
}

/** Links contain tokens, and cookies need TLS where PUBLIC_URL has it. */
async function assertOwnConsole({ db, installation: { env } }: Ctx, { protocol, hostname }: URL) {
  const publicURL = new URL(env.PUBLIC_URL);
  if (publicURL.protocol === 'https:' && protocol !== 'https:') failAt('outgoingURL', 'policy', 'https only');
  if (hostname !== publicURL.hostname && (await db.branding.count({ where: { host: hostname } })) === 0)
    failAt('outgoingURL', 'forbidden', 'no branding has this host');
}

/** Without mails, the root account must be able to sign in and turn the setting off. */
export async function setAccountVerify(ctx: Ctx, input: AccountVerify) {
  assertRoot(ctx);
  if (input.accountVerify && !(await hasOwnFactor(ctx.installation.db, ctx.actor.id)))
    failAt('accountVerify', 'required', 'your account needs an authenticator or a passkey');
  return accountVerify(await write(ctx, input));
}

/** A trigger publishes the operator's zones. */
export async function setRestrictGroupCIDRs(ctx: Ctx, { cidrs }: RestrictGroupCIDRs) {
  await assertAllZones(ctx);
  return restrictGroupCIDRs(await write(ctx, { restrictGroupCidrs: cidrs }));
}
