// What sign-in looks like from a browser: the session itself is http/auth/sessions.ts.
import { AccountKind, Language, type Self, type SelfUpdate, type Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { given } from '../../core/given.ts';
import type { Sessions } from '../../http/auth/sessions.ts';

/** A value of login2faType. */
const AUTHENTICATOR = 1;
const TWO_YEARS_SECONDS = 2 * 365 * 24 * 3600;
const REFRESH = 'refreshToken';
/** Of whoever acts as another account of the same console: theirs again once they stop. */
const OWN_REFRESH = 'ownRefreshToken';
const HOURS_KEPT = 8;
/** Set by the sign-in page of whoever does not stay signed in: the session's cookies go when the browser is closed. */
const UNTIL_CLOSED = 'untilClosed';

export const familyOf = ({ mount }: Ctx): Family => AccountKind.parse(mount);
const deviceOf = (ctx: Ctx) => ({
  kind: familyOf(ctx),
  address: ctx.caller.address,
  device: ctx.caller.device,
});
const placeOf = (ctx: Ctx, email: string) => {
  ctx.caller.auditName = email;
  return { ...deviceOf(ctx), email };
};

export const login = (ctx: Ctx, sessions: Sessions, { email, password }: { email: string; password: string }) =>
  sessions.login(placeOf(ctx, email), password);

export async function code(
  ctx: Ctx,
  sessions: Sessions,
  { email, ...proof }: { email: string; onePassKey: string; vcode: string },
) {
  const tokens = await sessions.code(placeOf(ctx, email), proof);
  keep(ctx, tokens);
  return tokens;
}

export async function refresh(ctx: Ctx, sessions: Sessions, { refreshToken }: { refreshToken?: string | undefined }) {
  if (refreshToken === undefined && !ctx.caller.isSameSite) fail('REFRESH_FAILED');
  const given = refreshToken ?? ctx.caller.cookies[cookieName(ctx, REFRESH)];
  const tokens = await sessions.refresh(deviceOf(ctx), given, ({ email }) => (ctx.caller.auditName = email));
  keep(ctx, tokens);
  // What came by a cookie that no script reads goes back by it alone.
  return refreshToken === undefined ? { ...tokens, refreshToken: '' } : tokens;
}

export async function logout(ctx: Ctx, sessions: Sessions, { refreshToken }: { refreshToken?: string | undefined }) {
  const parked = ctx.caller.cookies[cookieName(ctx, OWN_REFRESH)] ?? '';
  const isTheirs = parked !== '' && (await sessions.isOfProxy(ctx.actor, parked));
  await sessions.logout(ctx.actor, refreshToken);
  keep(ctx, { accessToken: '', refreshToken: isTheirs ? parked : '', tokenType: 'Bearer' });
  if (parked !== '') putCookie(ctx, OWN_REFRESH, '');
}

/** Their own session waits in a cookie while its place is taken. */
export async function switchUser(ctx: Ctx, sessions: Sessions, { code }: { code: string }): Promise<Tokens> {
  const { tokens, actor } = await sessions.switchUser(deviceOf(ctx), code);
  ctx.caller.auditName = actor.proxy?.email ?? null;
  const own = ctx.caller.cookies[cookieName(ctx, REFRESH)] ?? '';
  if (own !== '' && (await sessions.isOfProxy(actor, own))) putCookie(ctx, OWN_REFRESH, own, HOURS_KEPT * 3600);
  keep(ctx, tokens);
  return tokens;
}

export async function self(ctx: Ctx, sessions: Sessions): Promise<Self> {
  const { actor, installation } = ctx;
  const { env } = installation;
  const { kind, language, clientId, companyTaxId, expiresAt, role, parent, createdBy, ...account } =
    await sessions.account(actor);
  const isSub = !account.isRoot;
  // An account of another console is one that this account does not meet.
  const creator = createdBy?.kind === kind ? createdBy : null;
  return {
    ...account,
    auth: kind,
    grade: isSub ? 1 : 0,
    roleID: account.roleId,
    roleName: role?.name ?? null,
    parentID: isSub ? account.parentId : null,
    parentName: isSub ? (parent?.name ?? null) : null,
    createdByID: creator && account.createdById,
    createdByName: creator?.name ?? null,
    googleVerification: account.login2faType === AUTHENTICATOR,
    language: Language.parse(language),
    clientID: clientId,
    dnsType: await dnsTypeOf(ctx),
    companyTaxID: companyTaxId,
    expiry: expiresAt,
    permissions: [...actor.permissions],
    proxy: actor.proxy && {
      name: actor.proxy.name,
      email: actor.proxy.email,
      // The admin console has an address of its own.
      home: `${actor.proxy.kind === 'admin' ? env.ADMIN_URL.replace(/\/$/, '') : ''}/${actor.proxy.kind}`,
    },
    maxLogExportTimes: 10,
  };
}

/** Null: names of sites lead nowhere yet. Manual: whoever runs the installation sees to it (CNAME_SUFFIX). */
async function dnsTypeOf({ db, actor, installation: { env } }: Ctx): Promise<Self['dnsType']> {
  if (actor.kind !== 'client') return null;
  const first = await db.dnsSetting.findFirst({ orderBy: { createdAt: 'asc' }, select: { dnsType: true } });
  return first?.dnsType ?? (env.CNAME_SUFFIX === undefined ? null : 'manual');
}

/** Only what is the account's own to say: never what it may, or whose it is. */
export async function updateSelf(ctx: Ctx, sessions: Sessions, { companyTaxID, ...fields }: SelfUpdate) {
  const data = given({ ...fields, companyTaxId: companyTaxID });
  // Past the scope, in which nobody changes themselves.
  await ctx.installation.db.account.update({ where: { id: ctx.actor.id }, data });
  return self(ctx, sessions);
}

const cookieName = (ctx: Ctx, name: string) => `${familyOf(ctx)[0]}_${name}`;

/** No cookie authorises a call: the access token is read by our script and sent as a header. */
export function keep(ctx: Ctx, { accessToken, refreshToken, tokenType }: Tokens) {
  putCookie(ctx, 'accessToken', accessToken);
  putCookie(ctx, 'tokenType', accessToken === '' ? '' : tokenType);
  putCookie(ctx, REFRESH, refreshToken);
}

/** An empty one is taken away. */
function putCookie(ctx: Ctx, name: string, value: string, seconds = TWO_YEARS_SECONDS) {
  const isSecret = name === REFRESH || name === OWN_REFRESH;
  const path = isSecret ? `/api/v1/${familyOf(ctx)}` : '/';
  const isBrief = ctx.caller.cookies[cookieName(ctx, UNTIL_CLOSED)] !== undefined;
  const life = value === '' ? { maxAge: 0 } : isBrief ? {} : { maxAge: seconds };
  ctx.caller.setCookie(cookieName(ctx, name), value, { path, httpOnly: isSecret, ...life });
}
