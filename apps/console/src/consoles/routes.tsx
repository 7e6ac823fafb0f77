// Routes shared by all consoles: sign-in, the frame behind the session check, error pages.
import type { ComponentType } from 'react';
import { redirect, type RouteObject } from 'react-router-dom';
import { ApiError } from '@edgeloom/contract/client.ts';
import { LoginPage } from '../features/auth/login-page.tsx';
import { SignInLayout } from '../features/auth/sign-in-layout.tsx';
import { family, signInFrom, to } from '../lib/family.ts';
import { ProgressBar } from '../components/frame/progress.tsx';
import { sitePath, sitesList } from '../components/frame/site-scope.ts';
import { learnFrame, learnPages, t } from '../lib/i18n.ts';
import { loadAccount } from '../lib/sign-in.ts';
import { withinChunkLimit } from '../lib/time-limit.ts';
import { endSession, hasTokens, lastSite, useSession } from '../stores/session.ts';
import { toast } from '../stores/toasts.ts';
import { ConsoleFailure, RouteFailure } from './route-failure.tsx';

/** A page with the phrases of all pages: `lazy: page(() => import('…'), 'ZonesPage')`. */
export const page =
  <Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) =>
  async () => ({ Component: (await Promise.all([withinChunkLimit(load()), learnPages()]))[0][name] });

/** A page whose phrases are there before the others: the dashboards, and those before the sign-in. */
export const earlyPage =
  <Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) =>
  async () => ({ Component: (await withinChunkLimit(load()))[name] });

/** Requires a session of this console. The requested URL is kept for after sign-in. */
async function requireAccount({ request }: { request: Request }) {
  const login = redirect(signInFrom(new URL(request.url)));
  if (!hasTokens()) return login;
  if (useSession.getState().account) return null;
  try {
    return (await loadAccount()) ? null : redirect(to('login'));
  } catch (error) {
    // A server error must not sign out.
    if (error instanceof ApiError && error.status === 401) {
      endSession(error.envelope.code);
      return login;
    }
    throw error;
  }
}

/** Sign-in routes, the same in each console. */
const ownPages: RouteObject[] = [
  {
    path: 'changePassword',
    lazy: page(() => import('../features/security/change-password-page.tsx'), 'ChangePasswordPage'),
  },
  { path: 'userManagement/apiDoc', lazy: page(() => import('../features/api-doc/api-doc-page.tsx'), 'ApiDocPage') },
  { path: 'security', lazy: page(() => import('../features/security/security-page.tsx'), 'SecurityPage') },
];

const alreadyIn = () => (hasTokens() ? redirect(to('dashboard')) : null);

/** An unknown path redirects to the start page with a message. The admin console has its own host. */
function startPage({ request }: { request: Request }) {
  if (family !== 'admin' && /\/admin(\/|$)/i.test(new URL(request.url).pathname)) return redirect('/404');
  toast({ tone: 'info', text: t('app.notFound.title') });
  return redirect(to(''));
}
const unknown: RouteObject = { path: '*', loader: startPage, element: null };

/** A site URL without an id opens the last site of this tab. */
export const lastSiteRoute = (path: string): RouteObject => ({
  path,
  loader: () => {
    const site = lastSite.get();
    return redirect(to(site ? sitePath(family, site) : sitesList));
  },
  element: null,
});

export const consoleRoutes = (
  frame: () => Promise<{ Component: ComponentType }>,
  pages: RouteObject[],
): RouteObject[] => [
  { path: '/', loader: () => redirect(`/${family}/`), element: null },
  {
    path: `/${family}`,
    errorElement: <ConsoleFailure />,
    HydrateFallback: ProgressBar,
    children: [
      {
        path: 'login',
        Component: SignInLayout,
        children: [
          { index: true, loader: alreadyIn, Component: LoginPage },
          {
            path: 'verifyAccount',
            loader: alreadyIn,
            lazy: earlyPage(() => import('../features/auth/verify-account-page.tsx'), 'VerifyAccountPage'),
          },
          {
            path: 'forgotPassword',
            loader: alreadyIn,
            lazy: earlyPage(() => import('../features/auth/forgot-password-page.tsx'), 'ForgotPasswordPage'),
          },
          // Mailed links also work while signed in.
          {
            path: 'createPassword',
            lazy: earlyPage(() => import('../features/auth/create-password-page.tsx'), 'CreatePasswordPage'),
          },
          { path: 'oidc', lazy: earlyPage(() => import('../features/auth/oidc-page.tsx'), 'OidcPage') },
        ],
      },
      {
        path: 'verifyMail',
        Component: SignInLayout,
        children: [
          { index: true, lazy: earlyPage(() => import('../features/auth/verify-mail-page.tsx'), 'VerifyMailPage') },
        ],
      },
      {
        path: 'switchUser',
        Component: SignInLayout,
        children: [
          { index: true, lazy: earlyPage(() => import('../features/auth/switch-user-page.tsx'), 'SwitchUserPage') },
        ],
      },
      {
        id: 'signedIn',
        loader: requireAccount,
        // The session is checked once; a later 401 ends it.
        shouldRevalidate: () => false,
        lazy: earlyPage(() => import('./signed-in.tsx'), 'SignedIn'),
        children: [
          {
            lazy: async () => (await Promise.all([withinChunkLimit(frame()), learnFrame()]))[0],
            children: [
              {
                errorElement: <RouteFailure />,
                children: [
                  { index: true, loader: () => redirect(to('dashboard')), element: null },
                  ...pages,
                  ...ownPages,
                  unknown,
                ],
              },
            ],
          },
        ],
      },
    ],
  },
  { path: '/404', HydrateFallback: ProgressBar, lazy: earlyPage(() => import('./not-found.tsx'), 'NotFound') },
  { ...unknown, HydrateFallback: ProgressBar },
];
