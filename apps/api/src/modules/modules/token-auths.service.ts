// Token authentication. Secret keys are stored apart from the settings, each encrypted under its own id: settings and
// their versions contain only ids.
import { createHash, createHmac, randomUUIDv7 } from 'node:crypto';
import {
  TokenAuthSettings,
  type TokenCheckResult,
  type TokenCheckInput,
  type Signed,
  type SignInput,
  type StoredAuth,
  type TokenAuthItem,
} from '@edgeloom/contract/modules/token-auths.ts';
import { judge, signUrl, type Digest } from '@edgeloom/contract/modules/token-signer.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contexts } from '../../core/secrets.ts';
import { modulesOf } from './modules.service.ts';
import type { InModule } from './redirects.service.ts';

/** Per site, with the keys that only older versions use. */
const KEYS_OF_A_SITE = 2000;

interface Settling {
  ctx: Ctx;
  tx: ScopedTx;
  siteId: string;
}

export const modules = modulesOf<TokenAuthSettings, { auths: TokenAuthItem[] }>(
  'tokenAuth',
  TokenAuthSettings,
  async ({ auths: items }, { before, ...at }) => {
    const known = before ? TokenAuthSettings.parse(before).auths.map(({ id }) => id) : [];
    if (items.some(({ id }) => id !== undefined && !known.includes(id))) fail('NOT_FOUND');
    const keys = await keysFor(at, items);
    const auths = items.map((item, i) => ({ ...item, id: item.id ?? randomUUIDv7(), keys: keys[i] ?? [] }));
    return TokenAuthSettings.parse({ auths });
  },
);

/** Stores new keys; ids of existing keys must belong to the site. */
async function keysFor({ ctx, tx, siteId }: Settling, items: readonly TokenAuthItem[]) {
  const { secrets } = ctx.installation;
  const asked = items.flatMap(({ keys }) => keys.flatMap((key) => ('id' in key ? key.id : [])));
  const found = await tx.tokenKey.findMany({
    where: { siteId, id: { in: asked } },
    select: { id: true, createdAt: true },
  });
  const stored = new Map(found.map(({ id, createdAt }) => [id, createdAt]));
  if (asked.some((id) => !stored.has(id))) fail('NOT_FOUND');
  const fresh: { id: string; siteId: string; keySealed: string; createdAt: Date }[] = [];
  const named = items.map(({ keys }) =>
    keys.map((key) => {
      const id = 'id' in key ? key.id : randomUUIDv7();
      const createdAt = stored.get(id) ?? ctx.now();
      if ('key' in key) fresh.push({ id, siteId, createdAt, keySealed: secrets.seal(key.key, contexts.tokenKey(id)) });
      return { id, createdAt: createdAt.toISOString() };
    }),
  );
  await store(tx, siteId, fresh);
  return named;
}

async function store(tx: ScopedTx, siteId: string, fresh: { id: string; siteId: string; keySealed: string }[]) {
  if (fresh.length === 0) return;
  if ((await tx.tokenKey.count({ where: { siteId } })) + fresh.length > KEYS_OF_A_SITE)
    fail('LIMIT_REACHED', { extra: { limit: KEYS_OF_A_SITE } });
  await tx.tokenKey.createMany({ data: fresh });
}

/** Settings of a module copied to another site, with copies of the keys. */
export async function copyOf({ ctx, tx, siteId }: Settling, settings: unknown): Promise<TokenAuthSettings> {
  const { secrets } = ctx.installation;
  const { auths: sources } = TokenAuthSettings.parse(settings);
  const ids = [...new Set(sources.flatMap(({ keys }) => keys.map(({ id }) => id)))];
  const rows = await tx.tokenKey.findMany({ where: { id: { in: ids } } });
  const copies = new Map(
    rows.map(({ id: from, keySealed }) => {
      const id = randomUUIDv7();
      const key = secrets.open(keySealed, contexts.tokenKey(from));
      return [from, { id, siteId, keySealed: secrets.seal(key, contexts.tokenKey(id)) }];
    }),
  );
  await store(tx, siteId, [...copies.values()]);
  return {
    auths: sources.map((auth) => ({
      ...auth,
      id: randomUUIDv7(),
      keys: auth.keys.map((key) => ({ ...key, id: copies.get(key.id)?.id ?? fail('NOT_FOUND') })),
    })),
  };
}

export async function auths({ db }: Ctx, at: InModule) {
  return { data: TokenAuthSettings.parse((await own(db, at)).settings).auths };
}

/** Replaces all rules. */
export async function setAuths(ctx: Ctx, at: InModule, items: TokenAuthItem[]) {
  const { id, name } = await own(ctx.db, at);
  const { data } = await modules.update(ctx, at.siteId, [{ id, name, auths: items }]);
  return { data: data[0]?.auths ?? [] };
}

export async function sign(
  ctx: Ctx,
  at: InModule,
  { authID, url, keyID, time, ...choice }: SignInput,
): Promise<Signed> {
  const { data } = await auths(ctx, at);
  const auth = data.find(({ id }) => id === authID) ?? fail('NOT_FOUND');
  const key = auth.keys.find(({ id }) => keyID === undefined || id === keyID) ?? fail('NOT_FOUND');
  if (choice.address === undefined && auth.text.includes('{address}')) failAt('address', 'required', 'is signed');
  const keyOf = await opened(ctx, at.siteId, [auth]);
  const expires = auth.timeMeans === 'expires';
  const now = Math.floor((time ?? ctx.now()).getTime() / 1000);
  const seconds = time === undefined && expires ? now + auth.validSeconds : now;
  const made = signUrl(auth, keyOf(key.id), url, { time: seconds, ...choice }, digest);
  return { ...made, expiresAt: new Date((expires ? seconds : seconds + auth.validSeconds) * 1000) };
}

export async function judgeVisit(ctx: Ctx, at: InModule, input: TokenCheckInput): Promise<TokenCheckResult> {
  const { data } = await auths(ctx, at);
  const [, host = '', rest = ''] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(input.url) ?? [];
  const visit = {
    host: host.toLowerCase().replace(/:\d*$/, ''),
    // Without URL normalisation: what browsers would change is part of the signed text.
    target: rest.startsWith('/') ? rest : `/${rest}`,
    headers: Object.fromEntries(
      Map.groupBy(input.headers, ({ name }) => name.toLowerCase())
        .entries()
        .map(([name, lines]) => [name, lines.map(({ value }) => value)]),
    ),
    address: input.address ?? ctx.caller.address,
    now: Math.floor((input.time ?? ctx.now()).getTime() / 1000),
  };
  const { auth, ...verdict } = judge(data, visit, await opened(ctx, at.siteId, data), digest);
  const places = auth?.parts.map(({ name, format }) => (name === '' ? format : `${name}=${format}`)) ?? [];
  return { ...verdict, authID: auth?.id ?? null, name: auth?.name ?? '', parts: places };
}

const digest: Digest = (hash, text, key) =>
  (key === null ? createHash(hash) : createHmac(hash, key)).update(text).digest();

async function opened({ db, installation: { secrets } }: Ctx, siteId: string, of: readonly StoredAuth[]) {
  const ids = of.flatMap(({ keys }) => keys.map(({ id }) => id));
  const rows = await db.tokenKey.findMany({ where: { siteId, id: { in: ids } } });
  const sealed = new Map(rows.map(({ id, keySealed }) => [id, keySealed]));
  return (id: string) => secrets.open(sealed.get(id) ?? '', contexts.tokenKey(id));
}

const own = async (db: Ctx['db'], { siteId, moduleId }: InModule) =>
  (await db.module.findUnique({ where: { id: moduleId, siteId, kind: 'tokenAuth' } })) ?? fail('NOT_FOUND');
