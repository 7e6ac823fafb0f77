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

/** The sign-in form, which leads back to where one was. */
export const signInFrom = ({ pathname, search }: { pathname: string; search: string }) =>
  `${to('login')}?next=${encodeURIComponent(pathname + search)}`;
