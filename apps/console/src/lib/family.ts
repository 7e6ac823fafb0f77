const families = ['user', 'client', 'admin'] as const;
export type Family = (typeof families)[number];

const isFamily = (text: string): text is Family => families.some((family) => family === text);

/** The console is the first path segment, which is constant for a page load. */
export const familyOf = (path: string): Family | null => {
  const [, first = ''] = path.split('/');
  return isFamily(first) ? first : null;
};
export const family: Family = familyOf(globalThis.location?.pathname ?? '') ?? 'user';

export const to = (path: string) => `/${family}/${path}`;

/** Returns the path if it belongs to this console, otherwise the dashboard. */
export function ownPath(path: string | null) {
  // `/user//evil.example` stays on this origin. `/user/\evil` is rejected, because browsers treat `\` as `/`.
  const isOwn = path?.startsWith(to('')) === true && !path.startsWith(to('login')) && !/[\\\n\r\t]/.test(path);
  return isOwn ? path : to('dashboard');
}

/** The sign-in form with a return path. */
export const signInFrom = ({ pathname, search }: { pathname: string; search: string }) =>
  `${to('login')}?next=${encodeURIComponent(pathname + search)}`;
