// Sign-in for browsers: cookies and responses. The sessions themselves are in core/auth/sessions.ts.
import { AccountKind, Language, type Self, type SelfUpdate, type Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Sessions } from '../../core/auth/sessions.ts';
import type { SignIn } from '../../core/auth/sign-in.ts';
import { MAX_EXPORTS_A_DAY } from '../log-exports/log-exports.service.ts';

/** The value of `login2faType` for an authenticator. */
const AUTHENTICATOR = 1;
const TWO_YEARS_SECONDS = 2 * 365 * 24 * 3600;
const REFRESH = 'refreshToken';
/**
 * Cookie with the refresh token of the account that acts as another account of the same console; restored when it
 * stops.
 */
const OWN_REFRESH = 'ownRefreshToken';
const SESSION_HOURS = 8;
/** Cookie that marks a session without "stay signed in": its cookies end when the browser closes. */
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

export const login = (ctx: Ctx, signIn: SignIn, { email, password }: { email: string; password: string }) =>
  signIn.login(placeOf(ctx, email), password);

export async function code(
  ctx: Ctx,
  signIn: SignIn,
  { email, ...proof }: { email: string; onePassKey: string; vcode: string },
) {
  const tokens = await signIn.code(placeOf(ctx, email), proof);
  keep(ctx, tokens);
  return tokens;
}

export async function refresh(ctx: Ctx, sessions: Sessions, { refreshToken }: { refreshToken?: string | undefined }) {
  if (refreshToken === undefined && !ctx.caller.isSameSite) fail('REFRESH_FAILED');
  const omitUndefined = refreshToken ?? ctx.caller.cookies[cookieName(ctx, REFRESH)];
  const tokens = await sessions.refresh(deviceOf(ctx), omitUndefined, ({ email }) => (ctx.caller.auditName = email));
  keep(ctx, tokens);
  // A refresh token that arrived in an HttpOnly cookie is only returned in that cookie.
  return refreshToken === undefined ? { ...tokens, refreshToken: '' } : tokens;
}

export async function logout(ctx: Ctx, sessions: Sessions, { refreshToken }: { refreshToken?: string | undefined }) {
  const parked = ctx.caller.cookies[cookieName(ctx, OWN_REFRESH)] ?? '';
  const isTheirs = parked !== '' && (await sessions.isOfProxy(ctx.actor, parked));
  await sessions.logout(ctx.actor, refreshToken);
  keep(ctx, { accessToken: '', refreshToken: isTheirs ? parked : '', tokenType: 'Bearer' });
  if (parked !== '') putCookie(ctx, OWN_REFRESH, '');
}

/** The caller's own session stays in a cookie while the switched one is active. */
export async function switchUser(ctx: Ctx, sessions: Sessions, { code }: { code: string }): Promise<Tokens> {
  const { tokens, actor } = await sessions.switchUser(deviceOf(ctx), code);
  ctx.caller.auditName = actor.proxy?.email ?? null;
  const own = ctx.caller.cookies[cookieName(ctx, REFRESH)] ?? '';
  if (own !== '' && (await sessions.isOfProxy(actor, own))) putCookie(ctx, OWN_REFRESH, own, SESSION_HOURS * 3600);
  keep(ctx, tokens);
  return tokens;
}

export async function self(ctx: Ctx): Promise<Self> {
  const { actor, installation } = ctx;
  const { env } = installation;
  const { kind, language, clientId, companyTaxId, expiresAt, role, parent, createdBy, ...account } =
    await readAccount(ctx);
  const isSub = !account.isRoot;
  // A creator of another console is not shown.
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
      // The admin console has its own address.
      home: `${actor.proxy.kind === 'admin' ? env.ADMIN_URL.replace(/\/$/, '') : ''}/${actor.proxy.kind}`,
    },
    maxLogExportTimes: MAX_EXPORTS_A_DAY,
  };
}

/** Unscoped: the creator may belong to another console. */
const readAccount = ({ actor, installation }: Ctx) =>
  installation.db.account.findUniqueOrThrow({
    where: { id: actor.id },
    include: {
      role: { select: { name: true } },
      parent: { select: { name: true } },
      createdBy: { select: { kind: true, name: true } },
    },
  });

/**
 * Null: CNAME names of sites resolve to nothing yet. `manual`: the operator of the installation sets up DNS for
 * CNAME_SUFFIX.
 */
async function dnsTypeOf({ db, actor, installation: { env } }: Ctx): Promise<Self['dnsType']> {
  if (actor.kind !== 'client') return null;
  const first = await db.dnsSetting.findFirst({ orderBy: { createdAt: 'asc' }, select: { dnsType: true } });
  return first?.dnsType ?? (env.CNAME_SUFFIX === undefined ? null : 'manual');
}

/** Only fields that the account may set for itself; never its permissions, role or owner. */
export async function updateSelf(ctx: Ctx, { companyTaxID, ...fields }: SelfUpdate) {
  const data = omitUndefined({ ...fields, companyTaxId: companyTaxID });
  // Bypasses the scope, in which no account may update itself.
  await ctx.installation.db.account.update({ where: { id: ctx.actor.id }, data });
  return self(ctx);
}

const cookieName = (ctx: Ctx, name: string) => `${familyOf(ctx)[0]}_${name}`;

/** Cookies do not authorise calls: the console reads the access token and sends it as a header. */
export function keep(ctx: Ctx, { accessToken, refreshToken, tokenType }: Tokens) {
  putCookie(ctx, 'accessToken', accessToken);
  putCookie(ctx, 'tokenType', accessToken === '' ? '' : tokenType);
  putCookie(ctx, REFRESH, refreshToken);
}

/** An empty value removes the cookie. */
function putCookie(ctx: Ctx, name: string, value: string, seconds = TWO_YEARS_SECONDS) {
  const isSecret = name === REFRESH || name === OWN_REFRESH;
  const path = isSecret ? `/api/v1/${familyOf(ctx)}` : '/';
  const isBrief = ctx.caller.cookies[cookieName(ctx, UNTIL_CLOSED)] !== undefined;
  const life = value === '' ? { maxAge: 0 } : isBrief ? {} : { maxAge: seconds };
  ctx.caller.setCookie(cookieName(ctx, name), value, { path, httpOnly: isSecret, ...life });
}
