import type { Received } from '@edgeloom/contract/endpoint.ts';
import { session } from '@edgeloom/contract/auth/auth.calls.ts';
import { create } from 'zustand';
import { cookie, endSession, keepAccount, keepTokens, type Account } from '../stores/session.ts';
import { dismissAll, toast } from '../stores/toasts.ts';
import { call } from './api.ts';
import { family } from './family.ts';
import { t } from './i18n.ts';

type Started = Received<typeof session.login>;
interface Pending {
  email: string;
  password: string;
  started: Started;
}
/** State between password and code. In memory only, so a reload starts over. */
export const usePending = create<{ pending: Pending | null }>(() => ({ pending: null }));

/** Starts a sign-in. Resolves with whether a code is required. */
export async function startSignIn(email: string, password: string): Promise<'code' | 'done'> {
  const started = await call(session.login, { body: { email, password } });
  if (started.login2FAType === 2 && started.vcode !== undefined) {
    await finishSignIn(email, started.onePassKey, started.vcode);
    return 'done';
  }
  usePending.setState({ pending: { email, password, started } });
  if (started.login2FAType === 0) toast({ text: t('auth.checkMail') });
  return 'code';
}

export async function finishSignIn(email: string, onePassKey: string, vcode: string) {
  await arrive(await call(session.code, { body: { email, onePassKey, vcode } }));
}

/** Completes a sign-in of any kind. */
export async function arrive(tokens: { accessToken: string; tokenType: string }) {
  keepTokens(tokens);
  await loadAccount();
  usePending.setState({ pending: null });
  // Messages of the previous session are dismissed.
  dismissAll();
  toast({ text: t('auth.welcome') });
}

/** Loads the account of the tokens; an account of another console ends the session. */
export async function loadAccount(): Promise<Account | null> {
  const account = await call(session.self, {});
  if (account.auth !== family) {
    endSession(null);
    toast({ tone: 'bad', text: t('auth.mismatch') });
    return null;
  }
  keepAccount(account);
  return account;
}

/** Signs out at the server. Errors are ignored. */
export async function leave() {
  const accessToken = cookie('accessToken');
  await call(session.logout, { body: accessToken ? { accessToken } : {} }).catch(() => null);
  endSession(null);
}

export async function signOut() {
  await leave();
  toast({ text: t('auth.goodbye') });
}
