import { Loader } from '@mantine/core';
import { useEffect } from 'react';
import { Link, useLocation, useNavigate } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { afterSignIn } from './after-sign-in.ts';
import { finishOidc } from './oidc.ts';
import { sayFailure } from './say-failure.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

let finishing: Promise<string> | null = null;

/** Redirect target of the OIDC provider. */
export function OidcPage() {
  const t = useT();
  const { search } = useLocation();
  const navigate = useNavigate();
  useEffect(() => {
    // React runs effects twice in development, and the code is valid once.
    finishing ??= finishOidc(search);
    finishing
      .then((next) => navigate(afterSignIn(new URLSearchParams({ next })), { replace: true }))
      .catch((error: unknown) => {
        sayFailure(error);
        void navigate(to('login'), { replace: true });
      });
  }, [search, navigate]);
  return (
    <>
      <SignInTitle text={t('auth.switching')} />
      <div className={classes['form']}>
        <Loader size="sm" aria-label={t('common.loading')} />
        <div className={classes['below']}>
          <Link to={to('login')} className={classes['language'] ?? ''}>
            {t('auth.another')}
          </Link>
        </div>
      </div>
    </>
  );
}
