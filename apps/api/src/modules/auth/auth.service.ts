// What sign-in looks like from a browser: the session itself is http/auth/sessions.ts.
import { AccountKind, Language, type Self, type SelfUpdate, type Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { given } from '../../core/given.ts';
import type { Sessions } from '../../http/auth/sessions.ts';

const TWO_YEARS_SECONDS = 2 * 365 * 24 * 3600;
const REFRESH = 'refreshToken';

export const familyOf = ({ mount }: Ctx): Family => AccountKind.parse(mount);
const placeOf = (ctx: Ctx, email: string) => {
  ctx.caller.auditName = email;
  return { kind: familyOf(ctx), email, address: ctx.caller.address, device: ctx.caller.device };
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
  const tokens = await sessions.refresh(familyOf(ctx), refreshToken ?? ctx.caller.cookies[cookieName(ctx, REFRESH)]);
  keep(ctx, tokens);
  // What came by a cookie that no script reads goes back by it alone.
  return refreshToken === undefined ? { ...tokens, refreshToken: '' } : tokens;
}

export async function logout(ctx: Ctx, sessions: Sessions, { refreshToken }: { refreshToken?: string | undefined }) {
  await sessions.logout(ctx.actor, refreshToken);
  keep(ctx, { accessToken: '', refreshToken: '', tokenType: 'Bearer' });
}

export async function self({ actor }: Ctx, sessions: Sessions): Promise<Self> {
  const { kind, language, clientId, companyTaxId, expiresAt, ...account } = await sessions.account(actor);
  return {
    ...account,
    auth: kind,
    language: Language.parse(language),
    clientID: clientId,
    companyTaxID: companyTaxId,
    expiry: expiresAt,
    permissions: [...actor.permissions],
    maxLogExportTimes: 10,
  };
}

/** Only what is the account's own to say: never what it may, or whose it is. */
export async function updateSelf(ctx: Ctx, sessions: Sessions, { companyTaxID, ...fields }: SelfUpdate) {
  const data = given({ ...fields, companyTaxId: companyTaxID });
  await ctx.db.account.update({ where: { id: ctx.actor.id }, data });
  return self(ctx, sessions);
}

const cookieName = (ctx: Ctx, name: string) => `${familyOf(ctx)[0]}_${name}`;

/** No cookie authorises a call: the access token is read by our script and sent as a header. */
export function keep(ctx: Ctx, { accessToken, refreshToken, tokenType }: Tokens) {
  const maxAge = refreshToken === '' ? 0 : TWO_YEARS_SECONDS;
  const { setCookie } = ctx.caller;
  setCookie(cookieName(ctx, 'accessToken'), accessToken, { path: '/', httpOnly: false, maxAge });
  setCookie(cookieName(ctx, 'tokenType'), tokenType, { path: '/', httpOnly: false, maxAge });
  setCookie(cookieName(ctx, REFRESH), refreshToken, { path: `/api/v1/${familyOf(ctx)}`, httpOnly: true, maxAge });
}
