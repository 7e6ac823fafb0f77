import { family, to } from '../../lib/family.ts';

/** Where one was going before the sign-in, if that is in this console; else the dashboard. */
export function afterSignIn(search: URLSearchParams) {
  const next = search.get('next') ?? '';
  // `/user//evil.example` and `/user/\evil` stay paths of this origin: only what begins with the console's own prefix is taken.
  return next.startsWith(`/${family}/`) && !next.startsWith(`/${family}/login`) && !/[\\\n\r\t]/.test(next)
    ? next
    : to('dashboard');
}
