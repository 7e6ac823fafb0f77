import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { create } from 'zustand';
import { cookie, endSession, keepAccount, keepTokens, type Account } from '../stores/session.ts';
import { dismissAll, toast } from '../stores/toasts.ts';
import { call } from './api.ts';
import { family } from './family.ts';
import { t } from './i18n.ts';

// The declarations carry their schemas; the sign-in form is on screen before they are needed.
export const loadEndpoints = () => import('@edgeloom/contract/auth/auth.endpoints.ts');

export type Started = Received<typeof session.login>;
interface Pending {
  email: string;
  password: string;
  started: Started;
}
/** Between the password and the code, in memory only: a reload begins anew. */
export const usePending = create<{ pending: Pending | null }>(() => ({ pending: null }));

/** Asks for a code; answers whether one has to be typed. */
export async function startSignIn(email: string, password: string): Promise<'code' | 'done'> {
  const { session } = await loadEndpoints();
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
  const { session } = await loadEndpoints();
  await arrive(await call(session.code, { body: { email, onePassKey, vcode } }));
}

/** Signed in, by whichever way. */
export async function arrive(tokens: { accessToken: string; tokenType: string }) {
  keepTokens(tokens);
  await loadAccount();
  usePending.setState({ pending: null });
  // What was said of the session before is over.
  dismissAll();
  toast({ text: t('auth.welcome') });
}

/** The account behind the tokens; an account of another console ends the session. */
export async function loadAccount(): Promise<Account | null> {
  const { session } = await loadEndpoints();
  const account = await call(session.self, {});
  if (account.auth !== family) {
    endSession(null);
    toast({ tone: 'bad', text: t('auth.mismatch') });
    return null;
  }
  keepAccount(account);
  return account;
}

export async function signOut() {
  const { session } = await loadEndpoints();
  const accessToken = cookie('accessToken');
  // The session is over on this side whatever the server answers.
  await call(session.logout, { body: accessToken ? { accessToken } : {} }).catch(() => null);
  endSession(null);
  toast({ text: t('auth.goodbye') });
}
