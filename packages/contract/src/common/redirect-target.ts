// Targets of redirects.
import * as z from 'zod';
import { asciiURL } from './net.ts';

/** A valid Location value. Names and paths in other scripts are stored in ASCII. */
export const RedirectTarget = z
  .string()
  .trim()
  .overwrite(asciiURL)
  .max(2048)
  .refine((text) => placeOf(text) !== null, { message: 'wrong format' });

/** Host and path of a target, as the edge sees its request. Null: not a URL with a host. */
export function placeOf(target: string): { host: string; path: string } | null {
  if (!/^https?:\/\/[!#$%&'()*+,./0-9:;=?@A-Z_a-z~[\]-]+$/.test(target) || !URL.canParse(target)) return null;
  const { hostname, pathname, username, password } = new URL(target);
  if (username !== '' || password !== '') return null;
  try {
    return { host: hostname, path: decodeURIComponent(pathname).replace(/\/{2,}/g, '/') };
  } catch {
    return null;
  }
}
