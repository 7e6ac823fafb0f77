export const families = ['user', 'client', 'admin'] as const;
export type Family = (typeof families)[number];

const isFamily = (text: string): text is Family => families.some((family) => family === text);

/** Each console is its first path segment; a page load has one, so it is a constant. */
export const familyOf = (path: string): Family | null => {
  const [, first = ''] = path.split('/');
  return isFamily(first) ? first : null;
};
export const family: Family = familyOf(globalThis.location?.pathname ?? '') ?? 'user';

export const to = (path: string) => `/${family}/${path}`;

/** A path of this console as an address names it; else the dashboard. */
export function ownPath(path: string | null) {
  // `/user//evil.example` stays a path of this origin; `/user/\evil` is refused, since browsers read it as `/`.
  const isOwn = path?.startsWith(to('')) === true && !path.startsWith(to('login')) && !/[\\\n\r\t]/.test(path);
  return isOwn ? path : to('dashboard');
}

/** The sign-in form, which leads back to where one was. */
export const signInFrom = ({ pathname, search }: { pathname: string; search: string }) =>
  `${to('login')}?next=${encodeURIComponent(pathname + search)}`;
