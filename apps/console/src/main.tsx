import '@fontsource-variable/ibm-plex-sans/index.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import '@mantine/core/styles.layer.css';
import 'virtual:theme.css';
import './theme/base.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router-dom';
import { config } from 'zod/v4/core';
import { Toasts } from './components/toasts/toasts.tsx';
import { dropDrafts, keepDrafts, keepDraftsOnReload } from './lib/drafts.ts';
import { explainCode } from './lib/errors.ts';
import { familyOf, signInFrom, to, type Family } from './lib/family.ts';
import { startLanguage, t, useT } from './lib/i18n.ts';
import { queries } from './lib/queries.ts';
import { usePreferences } from './stores/preferences.ts';
import { followOtherTabs, useSession } from './stores/session.ts';
import { toast } from './stores/toasts.ts';
import { theme } from './theme/theme.ts';

// Schemas compile their checks with `new Function` where they may; under our content security policy they may not, and even
// asking is reported as a violation.
config({ jitless: true });

const consoles: Record<Family, () => Promise<{ routes: Parameters<typeof createBrowserRouter>[0] }>> = {
  user: () => import('./consoles/user/routes.tsx'),
  client: () => import('./consoles/client/routes.tsx'),
  admin: () => import('./consoles/admin/routes.tsx'),
};

async function start() {
  const [{ routes }] = await Promise.all([consoles[familyOf(location.pathname) ?? 'user'](), startLanguage()]);
  const router = createBrowserRouter(routes);
  leaveWithTheSession(router);
  const root = document.getElementById('root');
  if (!root) throw new Error('index.html has no #root');
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Look>
          <RouterProvider router={router} />
          <Toasts />
          <Overlays />
        </Look>
      </QueryClientProvider>
    </StrictMode>,
  );
}

/** When an account goes, by signing out or by a refused token, everything it saw goes too; what was being typed waits for it. */
function leaveWithTheSession(router: ReturnType<typeof createBrowserRouter>) {
  followOtherTabs();
  keepDraftsOnReload();
  useSession.subscribe(({ account, endedBy }, before) => {
    if (account !== null || (before.account === null && endedBy === before.endedBy)) return;
    queries.clear();
    if (endedBy === null) {
      dropDrafts();
      return void router.navigate(to('login'));
    }
    const isKept = before.account !== null && keepDrafts(before.account.id);
    const why = endedBy === 'elsewhere' ? t('auth.endedElsewhere') : explainCode(endedBy);
    toast({ tone: 'info', text: isKept ? t('auth.draftsKept', { why }) : why });
    void router.navigate(signInFrom(location));
  });
}

/** Where menus and dialogs stand: Mantine takes the element of this name. It is a landmark, as is all of a page. */
function Overlays() {
  return <section data-mantine-shared-portal-node aria-label={useT()('frame.overlays')} />;
}

const darkQuery = matchMedia('(prefers-color-scheme: dark)');
const onDark = (listener: () => void) => {
  darkQuery.addEventListener('change', listener);
  return () => darkQuery.removeEventListener('change', listener);
};
const useSystemDark = () => useSyncExternalStore(onDark, () => darkQuery.matches);

// The variables are a file of their own (build/theme-css.ts): the provider writes no <style>, and none is allowed.
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

void start();
