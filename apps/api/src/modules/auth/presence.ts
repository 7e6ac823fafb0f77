// Confirms that the user of an open session is still its owner, by password or second factor. The confirmation is valid
// for five minutes in the same session.
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { takeSecondFactor } from '../../core/auth/factors.ts';
import { marker } from '../../core/auth/tokens.ts';
import { assertPassword } from './passwords.service.ts';

const SECONDS = 300;
const text = ({ actor }: Ctx, ends: string) => `${actor.sessionId} ${ends}`;

export async function verify(
  ctx: Ctx,
  { password, vcode }: { password?: string | undefined; vcode?: string | undefined },
) {
  const { installation, actor, caller } = ctx;
  if (password !== undefined) await assertPassword(ctx, password);
  else if (!(await takeSecondFactor(installation, actor.id, vcode ?? '', caller.address))) fail('CREDENTIAL_REFUSED');
  const ends = String(Math.floor(ctx.now().getTime() / 1000) + SECONDS);
  return { verifyToken: `${ends}.${presence(ctx).mark(text(ctx, ends))}`, expiresIn: SECONDS };
}

/** Rejects a missing or expired confirmation, and one of another session. */
export function assertPresent(ctx: Ctx, verifyToken: string): void {
  const [ends = '', mark = ''] = verifyToken.split('.');
  const isOurs = presence(ctx).isMark(text(ctx, ends), mark);
  if (!isOurs || Number(ends) * 1000 < ctx.now().getTime()) fail('CREDENTIAL_REFUSED');
}

const presence = ({ installation: { secrets } }: Ctx) => marker(secrets, 'presence');
