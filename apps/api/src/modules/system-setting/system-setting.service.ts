import type {
  AccountVerify,
  OutgoingURL,
  RestrictGroupCIDRs,
  SystemSettings,
} from '@edgeloom/contract/system-setting/system-setting.ts';
import { assertAllZones } from '../../core/all-zones.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
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
const accountVerify = ({ accountVerify: is }: Columns): AccountVerify => ({ accountVerify: is });
const restrictGroupCIDRs = ({ restrictGroupCidrs: cidrs }: Columns): RestrictGroupCIDRs => ({ cidrs });

export async function getAll(ctx: Ctx): Promise<SystemSettings> {
  const [columns, nameProof] = await Promise.all([read(ctx), nameProofSetting.get(ctx)]);
  return {
    outgoingURL: outgoingURL(columns),
    accountVerify: accountVerify(columns),
    restrictGroupCIDRs: restrictGroupCIDRs(columns),
    nameProof,
  };
}

export const getOutgoingURL = async (ctx: Ctx) => outgoingURL(await read(ctx));
export const getAccountVerify = async (ctx: Ctx) => accountVerify(await read(ctx));
export const getRestrictGroupCIDRs = async (ctx: Ctx) => restrictGroupCIDRs(await read(ctx));

export async function setOutgoingURL(ctx: Ctx, input: OutgoingURL) {
  assertRoot(ctx);
  return outgoingURL(await write(ctx, { outgoingUrl: input.outgoingURL }));
}

export async function setAccountVerify(ctx: Ctx, input: AccountVerify) {
  assertRoot(ctx);
  return accountVerify(await write(ctx, input));
}

/** A trigger publishes the operator's zones. */
export async function setRestrictGroupCIDRs(ctx: Ctx, { cidrs }: RestrictGroupCIDRs) {
  await assertAllZones(ctx);
  return restrictGroupCIDRs(await write(ctx, { restrictGroupCidrs: cidrs }));
}
