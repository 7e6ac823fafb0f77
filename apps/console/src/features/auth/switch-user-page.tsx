import { Loader } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router-dom';
import { land } from '../../lib/acting.ts';
import { explain } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { toast } from '../../stores/toasts.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

let landing: Promise<string> | null = null;

/** Landing page when switching to another account and back. */
export function SwitchUserPage() {
  const t = useT();
  const navigate = useNavigate();
  const { search } = useLocation();
  // The parameters open a session, so they leave the URL at once.
  const [given] = useState(() => new URLSearchParams(search));
  useEffect(() => {
    history.replaceState(history.state, '', to('switchUser'));
    const arrive = async () => {
      try {
        // React runs effects twice in development, and a code is valid once.
        const next = await (landing ??= land(given));
        landing = null;
        await navigate(next, { replace: true });
      } catch (error) {
        landing = null;
        toast({ tone: 'info', text: explain(error).text });
        await navigate(to('login'), { replace: true });
      }
    };
    void arrive();
  }, [given, navigate]);
  return (
    <>
      <SignInTitle text={t('auth.switching')} />
      <div className={classes['form']}>
        <Loader size="sm" aria-label={t('common.loading')} />
      </div>
    </>
  );
}
