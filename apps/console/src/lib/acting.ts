// Switching to another account, and back to the row where it started.
import { proxy, session } from '@edgeloom/contract/auth/auth.calls.ts';
import { dropTokens, hasTokens, keepTokens, useSession } from '../stores/session.ts';
import { toast } from '../stores/toasts.ts';
import { call } from './api.ts';
import { family, to } from './family.ts';
import { learnFrame, t } from './i18n.ts';
import { loadAccount } from './sign-in.ts';

// Per tab and origin, so that other sites cannot set the return path.
const FROM = `${family.charAt(0)}_actedFrom`;

interface From {
  path: string;
  row: string;
}

export async function beginActing(accountID: string): Promise<void> {
  const { url } = await call(proxy.start, { body: { accountID } });
  const from: From = { path: `${location.pathname}${location.search}`, row: accountID };
  sessionStorage.setItem(FROM, JSON.stringify(from));
  location.assign(url);
}

/** Ends the switched session; the reader's own session continues. */
export async function stopActing(): Promise<void> {
  const home = useSession.getState().account?.proxy?.home;
  if (home === undefined) return;
  await call(session.logout, { body: {} }).catch(() => null);
  dropTokens();
  location.assign(`${home}/switchUser?back`);
}

/**
 * Handles the landing page's parameters: return, or open a session by code or tokens. Tokens are verified by a refresh
 * before they are stored. Resolves with the next path.
 */
export async function land(search: URLSearchParams): Promise<string> {
  if (search.has('back')) return comeBack();
  const [code, accessToken, refreshToken, tokenType] = ['code', 'accessToken', 'refreshToken', 'tokenType'].map(
    (name) => search.get(name),
  );
  if (code) keepTokens(await call(proxy.switchUser, { body: { code } }));
  else if (accessToken && refreshToken && tokenType?.toLowerCase() === 'bearer')
    keepTokens(await call(session.refresh, { body: { accessToken, refreshToken } }));
  else return to('login');
  return (await loadAccount()) === null ? to('login') : to('dashboard');
}

/** The reader's own session still exists, or is restored from a cookie. */
async function comeBack(): Promise<string> {
  if (!hasTokens()) keepTokens(await call(session.refresh, { body: {} }));
  await learnFrame();
  toast({ text: t('proxy.stopped') });
  const from = fromOf(sessionStorage.getItem(FROM));
  sessionStorage.removeItem(FROM);
  if (from === null) return to('dashboard');
  focusRow(from.row);
  return from.path;
}

function fromOf(text: string | null): From | null {
  const from: unknown = text === null ? null : JSON.parse(text);
  const isOurs =
    typeof from === 'object' &&
    from !== null &&
    'path' in from &&
    typeof from.path === 'string' &&
    from.path.startsWith(`/${family}/`) &&
    'row' in from &&
    typeof from.row === 'string';
  return isOurs ? { path: String(from.path), row: String(from.row) } : null;
}

/** Focuses the row after it is loaded. */
function focusRow(id: string) {
  const find = () => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
  const watch = new MutationObserver(() => {
    const row = find();
    if (!row) return;
    watch.disconnect();
    row.focus();
    row.scrollIntoView({ block: 'center' });
  });
  watch.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watch.disconnect(), 10_000);
}
