import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { session as endpoints } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { create } from 'zustand';
import { family } from '../lib/family.ts';

export type Account = Received<typeof endpoints.self>;

export type Ending = number | 'elsewhere' | null;
interface Session {
  account: Account | null;
  /** The error code that ended the session, or another tab; null after signing out. Opens the sign-in form. */
  endedBy: Ending;
}
export const useSession = create<Session>(() => ({ account: null, endedBy: null }));

// The cookie names are part of the public interface for integrations. The refresh token is in an HttpOnly cookie.
const prefix = family.charAt(0);
const twoYears = 2 * 365 * 86_400;
const names = ['accessToken', 'tokenType'] as const;
/** Session cookies, deleted when the browser closes. The API reads this flag, too. */
const UNTIL_CLOSED = 'untilClosed';

export const cookie = (name: (typeof names)[number] | typeof UNTIL_CLOSED) =>
  document.cookie
    .split('; ')
    .find((pair) => pair.startsWith(`${prefix}_${name}=`))
    ?.slice(prefix.length + name.length + 2) || null;

function putCookie(name: string, value: string, life: string) {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${prefix}_${name}=${value}; Path=/; SameSite=Strict${life}${secure}`;
}

export const staysSignedIn = () => cookie(UNTIL_CLOSED) === null;
export const staySignedIn = (stays: boolean) => putCookie(UNTIL_CLOSED, '1', stays ? '; Max-Age=0' : '');

export function keepTokens(tokens: { accessToken: string; tokenType: string }) {
  for (const name of names) putCookie(name, tokens[name], staysSignedIn() ? `; Max-Age=${twoYears}` : '');
}

export const hasTokens = () => names.every((name) => cookie(name));

export function keepAccount(account: Account) {
  keepPlacesOf(account);
  localStorage.setItem(
    `${prefix}_userInfo`,
    JSON.stringify({ email: account.email, name: account.name, auth: account.auth }),
  );
  useSession.setState({ account, endedBy: null });
}

export function dropTokens() {
  for (const name of names) putCookie(name, '', '; Max-Age=0');
}

/** Deletes all session data that scripts can access. */
export function endSession(by: Ending) {
  dropTokens();
  localStorage.removeItem(`${prefix}_userInfo`);
  forgetPlaces();
  useSession.setState({ account: null, endedBy: by });
}

/** Tabs share cookies, so changes in another tab apply here. */
export function followOtherTabs() {
  addEventListener('storage', ({ key, newValue }) => {
    const { account } = useSession.getState();
    if (key !== `${prefix}_userInfo` || account === null) return;
    if (newValue === null || !newValue.includes(JSON.stringify({ email: account.email }).slice(1, -1))) {
      forgetPlaces();
      useSession.setState({ account: null, endedBy: 'elsewhere' });
    }
  });
}

// The last site and zone, per tab.
const PLACES = { account: `${prefix}_lastOf`, site: `${prefix}_lastSite`, zone: `${prefix}_lastZone` } as const;

const forgetPlaces = () => Object.values(PLACES).forEach((key) => sessionStorage.removeItem(key));

/** Another account of the same console, such as after switching, does not use these. */
function keepPlacesOf({ id }: Account) {
  if (sessionStorage.getItem(PLACES.account) !== id) forgetPlaces();
  sessionStorage.setItem(PLACES.account, id);
}

export interface LastSite {
  id: string;
  name: string;
}
export const lastSite = {
  get(): LastSite | null {
    const [id, name] = (sessionStorage.getItem(PLACES.site) ?? '').split('\n');
    return id && name ? { id, name } : null;
  },
  keep: ({ id, name }: LastSite) => sessionStorage.setItem(PLACES.site, `${id}\n${name}`),
  forget: () => sessionStorage.removeItem(PLACES.site),
};
export const lastZone = {
  get: () => sessionStorage.getItem(PLACES.zone),
  keep: (id: string) => sessionStorage.setItem(PLACES.zone, id),
};
