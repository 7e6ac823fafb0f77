import { Button } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { Trans } from 'react-i18next';
import { Link, Navigate, useNavigate, useSearchParams } from 'react-router-dom';
import { explain } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { finishSignIn, startSignIn, usePending } from '../../lib/sign-in.ts';
import { hasTokens } from '../../stores/session.ts';
import { afterSignIn } from './after-sign-in.ts';
import { CodeBoxes } from './code-boxes.tsx';
import { Failure } from './failure.tsx';
import classes from './auth.module.css';

const resendSeconds = 60;

export function VerifyAccountPage() {
  const t = useT();
  const id = useId();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const pending = usePending((state) => state.pending);
  const [code, setCode] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useState(resendSeconds);
  useEffect(() => {
    if (wait === 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);
  // Reached by a reload or a typed address there is nothing to verify.
  if (!pending) return hasTokens() ? null : <Navigate to={to('login')} replace />;
  const { email, password, started } = pending;

  async function attempt(task: () => Promise<void>) {
    setBusy(true);
    setFailure(null);
    try {
      await task();
    } catch (error) {
      setCode('');
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  const verify = (vcode: string) =>
    attempt(async () => {
      await finishSignIn(email, started.onePassKey, vcode);
      await navigate(afterSignIn(search), { replace: true });
    });
  const resend = () =>
    attempt(async () => {
      await startSignIn(email, password);
      setWait(resendSeconds);
    });
  const type = (next: string) => {
    setCode(next);
    if (next.length === 6 && !busy) void verify(next);
  };

  return (
    <>
      <h1 className={classes['title']}>{t('auth.verify')}</h1>
      <p className={classes['lead']}>
        <Trans
          i18nKey={started.login2FAType === 1 ? 'auth.authenticator' : 'auth.sentTo'}
          values={{ email }}
          components={[<b key="0" />]}
        />
      </p>
      <div className={classes['form']}>
        {failure !== null && <Failure explained={explain(failure)} />}
        <CodeBoxes
          id={id}
          label={t('auth.code')}
          value={code}
          wrong={failure !== null && code === ''}
          disabled={busy}
          onChange={type}
        />
        <div className={classes['below']}>
          {started.login2FAType === 0 &&
            (wait > 0 ? (
              <span>{t('auth.resendIn', { seconds: wait })}</span>
            ) : (
              <Button variant="subtle" size="xs" onClick={() => void resend()}>
                {t('auth.resend')}
              </Button>
            ))}
          <Link to={to('login')} className={classes['language'] ?? ''}>
            {t('auth.another')}
          </Link>
        </div>
      </div>
    </>
  );
}
