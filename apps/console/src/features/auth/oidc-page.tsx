import { Loader } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { afterSignIn } from './after-sign-in.ts';
import { Failure } from './failure.tsx';
import { finishOidc } from './oidc.ts';
import classes from './auth.module.css';

let finishing: Promise<string> | null = null;

/** Where the provider sends the browser back to. */
export function OidcPage() {
  const t = useT();
  const { search } = useLocation();
  const navigate = useNavigate();
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    // React runs an effect twice while developing, and the answer is good once.
    finishing ??= finishOidc(search);
    finishing.then((next) => navigate(afterSignIn(new URLSearchParams({ next })), { replace: true })).catch(setFailure);
  }, [search, navigate]);
  return (
    <>
      <h1 className={classes['title']}>{t('auth.switching')}</h1>
      <div className={classes['form']}>
        {failure === null ? <Loader size="sm" aria-label={t('common.loading')} /> : <Failure error={failure} />}
        <div className={classes['below']}>
          <Link to={to('login')} className={classes['language'] ?? ''}>
            {t('auth.another')}
          </Link>
        </div>
      </div>
    </>
  );
}
