// CNAME domains of an operator. Each one carries the names of all sites and groups, so that customers can move from one
// to another at any time. Consoles show the default one.
import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import type { Cname, CnameInput } from '@edgeloom/contract/dns-setting/dns-setting.ts';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { choicesOf, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';

const LIMIT = 20;
const include = {
  setting: {
    select: {
      dnsType: true,
      rootDomain: true,
      _count: { select: { cnames: true, names: { where: { NOT: { wanted: { equals: [] } } } } } },
    },
  },
} satisfies Prisma.CnameInclude;
type Row = Prisma.CnameGetPayload<{ include: typeof include }>;

export async function list({ db }: Ctx, paging: Paging<'createdAt' | 'name'>) {
  const [rows, total] = await Promise.all([db.cname.findMany({ include, ...pageOf(paging) }), db.cname.count()]);
  return { data: rows.map(shown), total };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.cname, namedBy(query), query);

export const create = ({ db, actor }: Ctx, input: CnameInput): Promise<Cname> =>
  db.$transaction((tx) => addCname(tx, actor.clientId, input));

export async function addCname(tx: ScopedTx, clientId: string, { name, isDefault }: CnameInput): Promise<Cname> {
  const settings = await tx.dnsSetting.findMany();
  const others = await tx.cname.findMany();
  const [setting] = settings
    .filter(({ rootDomain }) => isWithin(name, rootDomain))
    .toSorted((a, b) => b.rootDomain.length - a.rootDomain.length);
  if (!setting) {
    const message = 'no account has a zone for it';
    fail('INVALID_DNS_SETTING', { errorData: [{ target: name, path: 'name', rule: 'outside', message }] });
  }
  if (others.length >= LIMIT) failAt('name', 'range', `at most ${LIMIT} names`);
  if (others.some((other) => other.name !== name && (isWithin(name, other.name) || isWithin(other.name, name))))
    failAt('name', 'within', 'one name lies within another');
  const data = { clientId, settingId: setting.id, name };
  const { id } = await orFail('DUPLICATED', tx.cname.create({ data }));
  await keepOneDefault(tx, clientId, isDefault ? id : undefined);
  return shown(await tx.cname.findUniqueOrThrow({ where: { id }, include }));
}

export const update = ({ db, actor }: Ctx, { id }: { id: string }): Promise<Cname> =>
  db.$transaction(async (tx) => {
    if ((await tx.cname.count({ where: { id } })) === 0) fail('NOT_FOUND');
    await keepOneDefault(tx, actor.clientId, id);
    return shown(await tx.cname.findUniqueOrThrow({ where: { id }, include }));
  });

export const remove = ({ db, actor }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.cname.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    await keepOneDefault(tx, actor.clientId);
    return { ids };
  });

/**
 * Keeps exactly one default among an account's CNAME domains: the requested one, else the present one, else the oldest.
 */
export async function keepOneDefault(tx: ScopedTx, clientId: string, wished?: string) {
  const rows = await tx.cname.findMany({ where: { clientId }, orderBy: [{ isDefault: 'desc' }, { createdAt: 'asc' }] });
  const next = rows.find(({ id }) => id === wished) ?? rows[0];
  if (!next || next.isDefault) return;
  await tx.cname.updateMany({ where: { clientId, isDefault: true }, data: { isDefault: false } });
  await tx.cname.update({ where: { id: next.id }, data: { isDefault: true } });
}

const isWithin = (name: string, zone: string) => name === zone || name.endsWith(`.${zone}`);

const shown = ({ setting, settingId, id, name, isDefault, createdAt, updatedAt }: Row): Cname => ({
  id,
  name,
  isDefault,
  dnsSettingID: settingId,
  dnsType: DnsProvider.parse(setting.dnsType),
  rootDomain: setting.rootDomain,
  // All CNAME domains of an account have the same labels.
  names: Math.round(setting._count.names / Math.max(setting._count.cnames, 1)),
  createdAt,
  updatedAt,
});
