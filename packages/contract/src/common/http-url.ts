import * as z from 'zod';

/** A URL that the control plane requests. Credentials in it would be shown wherever the URL is. */
export const HttpUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((url) => !hasUserinfo(url), 'without a user and a password');
function hasUserinfo(url: string): boolean {
  const { username, password } = URL.parse(url) ?? { username: '', password: '' };
  return username !== '' || password !== '';
}
