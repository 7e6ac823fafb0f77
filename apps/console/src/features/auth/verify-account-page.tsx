import { Button, TextInput } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { Link, Navigate, useNavigate, useSearchParams } from 'react-router-dom';
import { Phrase } from '../../components/phrase/phrase.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { canPasskey, signInByPasskey } from '../../lib/passkey.ts';
import { finishSignIn, startSignIn, usePending } from '../../lib/sign-in.ts';
import { hasTokens } from '../../stores/session.ts';
import { afterSignIn } from './after-sign-in.ts';
import { CodeBoxes } from './code-boxes.tsx';
import { sayFailure } from './say-failure.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

const resendSeconds = 60;

export function VerifyAccountPage() {
  const t = useT();
  const id = useId();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const pending = usePending((state) => state.pending);
  const [code, setCode] = useState('');
  const [recovery, setRecovery] = useState<string | null>(null);
  const [refused, setRefused] = useState(false);
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useState(resendSeconds);
  useEffect(() => {
    if (wait === 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);
  // Nothing to verify after a reload or with a typed URL.
  if (!pending) return hasTokens() ? null : <Navigate to={to('login')} replace />;
  const { email, password, started } = pending;

  async function attempt(task: () => Promise<void>) {
    setBusy(true);
    setRefused(false);
    try {
      await task();
    } catch (error) {
      setCode('');
      setRefused(true);
      sayFailure(error);
    } finally {
      setBusy(false);
    }
  }
  const verify = (vcode: string) =>
    attempt(async () => {
      await finishSignIn(email, started.onePassKey, vcode);
      await navigate(afterSignIn(search), { replace: true });
    });
  const byPasskey = () =>
    attempt(async () => {
      await signInByPasskey(started.onePassKey);
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
      <SignInTitle text={t('auth.verify')} />
      <p className={classes['lead']}>
        <Phrase word={started.login2FAType === 1 ? 'auth.authenticator' : 'auth.sentTo'} values={{ email }} />
      </p>
      <div className={classes['form']}>
        {recovery === null ? (
          <CodeBoxes
            id={id}
            label={t('auth.code')}
            value={code}
            wrong={refused && code === ''}
            disabled={busy}
            onChange={type}
          />
        ) : (
          <form
            className={classes['recovery']}
            onSubmit={(event) => {
              event.preventDefault();
              void verify(recovery);
            }}
          >
            <TextInput
              size="md"
              label={t('auth.recoveryCode')}
              autoComplete="off"
              spellCheck={false}
              value={recovery}
              onChange={(event) => setRecovery(event.currentTarget.value)}
            />
            <Button type="submit" size="md" fullWidth loading={busy} disabled={recovery.trim() === ''}>
              {t('auth.continue')}
            </Button>
          </form>
        )}
        {started.passkey && canPasskey() && (
          <Button size="md" variant="default" fullWidth disabled={busy} onClick={() => void byPasskey()}>
            {t('auth.usePasskey')}
          </Button>
        )}
        <div className={classes['below']}>
          {started.login2FAType === 0 &&
            (wait > 0 ? (
              <span>{t('auth.resendIn', { seconds: wait })}</span>
            ) : (
              <Button variant="subtle" size="xs" onClick={() => void resend()}>
                {t('auth.resend')}
              </Button>
            ))}
          {started.login2FAType === 1 && (
            <button
              type="button"
              className={classes['language']}
              onClick={() => setRecovery(recovery === null ? '' : null)}
            >
              {t(recovery === null ? 'auth.useRecovery' : 'auth.useAuthenticator')}
            </button>
          )}
          <Link to={to('login')} className={classes['language'] ?? ''}>
            {t('auth.another')}
          </Link>
        </div>
      </div>
    </>
  );
}
