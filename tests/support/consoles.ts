// The built consoles over a real api and a database of the caller's own, and a Chromium that looks at them: for tests that
// need more accounts than the quick start has, or the database beside the browser.
import path from 'node:path';
import type { Family } from '@edgeloom/contract/family.ts';
import { buildAll } from '../../deploy/build.ts';
import type { Signed } from './actors.ts';
import { testApp, type TestApp } from './app.ts';
import { giveSession, openChromium, openWindow, type Look, type Screen } from './browser.ts';
import { freePorts } from './ports.ts';

export interface Consoles {
  app: TestApp;
  /** Where each console is; names, not addresses, since passkeys live at names only. */
  base: Record<Family, string>;
  open: (kind: Family, look?: Look) => Promise<Screen>;
  /** A window in which the account is signed in, at this address of its console. */
  openAs: (who: Pick<Signed, 'kind' | 'token'>, address: string, look?: Look) => Promise<Screen>;
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
    // Whose operator has no DNS meets its setting-up, and nothing else.
    CNAME_SUFFIX: 'cdn.example.net',
    CONSOLE_DIR: path.join(import.meta.dirname, '../../apps/console/dist'),
    ...settings,
  });
  const browser = await openChromium();
  const openOf = (kind: Family, look?: Look) => openWindow(browser, base[kind], look);
  return {
    app,
    base,
    open: openOf,
    openAs: async (who, address, look) => {
      const screen = await openOf(who.kind, look);
      await giveSession(screen, base[who.kind], who);
      await screen.page.goto(`/${who.kind}/${address}`);
      return screen;
    },
    stop: async () => {
      await browser.close();
      await app.close();
    },
  };
}
