import '@fontsource-variable/ibm-plex-sans/index.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import 'virtual:mantine.css';
import 'virtual:theme.css';
import './theme/base.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode, useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router-dom';
import { Toasts } from './components/toasts/toasts.tsx';
import { routes as admin } from './consoles/admin/routes.tsx';
import { routes as client } from './consoles/client/routes.tsx';
import { routes as user } from './consoles/user/routes.tsx';
import { dropDrafts, keepDrafts, keepDraftsOnReload } from './lib/drafts.ts';
import { explainCode } from './lib/errors.ts';
import { familyOf, signInFrom, to } from './lib/family.ts';
import { startLanguage, t, useT } from './lib/i18n.ts';
import { usePreferences } from './stores/preferences.ts';
import { followOtherTabs, useSession } from './stores/session.ts';
import { toast } from './stores/toasts.ts';
import { theme } from './theme/theme.ts';

// Zod compiles schemas with `new Function`, which the CSP forbids and reports. Zod reads this global object, so that
// this page does not load zod.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

const consoles = { user, client, admin };

async function start() {
  await startLanguage();
  const router = createBrowserRouter(consoles[familyOf(location.pathname) ?? 'user']);
  leaveWithTheSession(router);
  const root = document.getElementById('root');
  if (!root) throw new Error('index.html has no #root');
  createRoot(root).render(
    <StrictMode>
      <Look>
        <RouterProvider router={router} />
        <Toasts />
        <Overlays />
      </Look>
    </StrictMode>,
  );
}

/** When the session ends, the sign-in form opens; unsaved input is kept for the same account. */
function leaveWithTheSession(router: ReturnType<typeof createBrowserRouter>) {
  followOtherTabs();
  keepDraftsOnReload();
  useSession.subscribe(({ account, endedBy }, before) => {
    if (account !== null || (before.account === null && endedBy === before.endedBy)) return;
    if (endedBy === null) {
      dropDrafts();
      return void router.navigate(to('login'));
    }
    const hasDrafts = before.account !== null && keepDrafts(before.account.id);
    const why = endedBy === 'elsewhere' ? t('auth.endedElsewhere') : explainCode(endedBy);
    toast({ tone: 'info', text: hasDrafts ? t('auth.draftsKept', { why }) : why });
    void router.navigate(signInFrom(location));
  });
}

/** Container of menus and dialogs, which Mantine finds by its name. A landmark, as axe requires. */
function Overlays() {
  return <section data-mantine-shared-portal-node aria-label={useT()('app.overlays')} />;
}

const darkQuery = matchMedia('(prefers-color-scheme: dark)');
const onDark = (listener: () => void) => {
  darkQuery.addEventListener('change', listener);
  return () => darkQuery.removeEventListener('change', listener);
};
const useSystemDark = () => useSyncExternalStore(onDark, () => darkQuery.matches);

// The CSS variables are in a file (build/theme-css.ts), because the CSP forbids <style>.
function Look({ children }: { children: ReactNode }) {
  const { theme: wanted, density } = usePreferences();
  const dark = useSystemDark();
  useEffect(() => {
    document.documentElement.dataset['density'] = density;
  }, [density]);
  const scheme = wanted === 'system' ? (dark ? 'dark' : 'light') : wanted;
  return (
    <MantineProvider theme={theme} forceColorScheme={scheme} withCssVariables={false} withGlobalClasses={false}>
      {children}
    </MantineProvider>
  );
}

// public/first-paint.js shows the message, since the console's phrases may have failed to load.
start().catch((error: unknown) => {
  dispatchEvent(new Event('start-failed'));
  throw error;
});
