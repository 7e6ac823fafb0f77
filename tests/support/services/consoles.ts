// Serves the built consoles over a real API and a test database, for tests that need more accounts than the quick start
// has.
import path from 'node:path';
import type { Family } from '@edgeloom/contract/family.ts';
import { buildAll } from '../../../deploy/build.ts';
import type { SignedInAccount } from '../builders/api-clients.ts';
import { testApp, type TestApp } from './app.ts';
import { chromiumOfWorker, setSessionCookies, openWindow, type WindowOptions, type Screen } from './browser.ts';
import { freePorts } from './ports.ts';

export interface Consoles {
  app: TestApp;
  /** URL of each console. They use host names, because passkeys do not work on IP addresses. */
  base: Record<Family, string>;
  open: (kind: Family, look?: WindowOptions) => Promise<Screen>;
  /** Opens a console page with the account signed in. */
  openAs: (who: Pick<SignedInAccount, 'kind' | 'token'>, address: string, look?: WindowOptions) => Promise<Screen>;
  stop: () => Promise<void>;
}

export async function startConsoles(settings: Record<string, string> = {}): Promise<Consoles> {
  await buildAll({ ifChanged: true });
  const [port = 0, adminPort = 0] = await freePorts(2);
  const [open, admin] = [`http://localhost:${port}`, `http://localhost:${adminPort}`];
  const base = { user: open, client: open, admin };
  const app = await testApp({
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    PUBLIC_URL: open,
    ADMIN_URL: admin,
    // An operator without DNS would be redirected to the DNS setup page.
    CNAME_SUFFIX: 'cdn.example.net',
    CONSOLE_DIR: path.join(import.meta.dirname, '../../../apps/console/dist'),
    ...settings,
  });
  const browser = await chromiumOfWorker();
  const openOf = (kind: Family, look?: WindowOptions) => openWindow(browser, base[kind], look);
  return {
    app,
    base,
    open: openOf,
    openAs: async (who, address, look) => {
      const screen = await openOf(who.kind, look);
      await setSessionCookies(screen, base[who.kind], who);
      await screen.page.goto(`/${who.kind}/${address}`);
      return screen;
    },
    stop: () => app.close(),
  };
}
