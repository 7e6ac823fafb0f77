import type { Family } from '@edgeloom/contract/family.ts';

/** Launch options of every Chromium in tests and benches. */
export const chromiumOptions = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
  chromiumSandbox: false,
  args: [
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

/** The cookies that signing in sets. */
export const sessionCookies = (url: string, { kind, token }: { kind: Family; token: string }) => [
  { name: `${kind.charAt(0)}_accessToken`, value: token, url },
  { name: `${kind.charAt(0)}_tokenType`, value: 'Bearer', url },
];
