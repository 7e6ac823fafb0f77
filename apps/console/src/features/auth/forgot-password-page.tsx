import { session } from '@edgeloom/contract/auth/auth.calls.ts';
import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Link } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { sayFailure } from './say-failure.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

export function ForgotPasswordPage() {
  const t = useT();
  const [email, setEmail] = useState('');
  const [sent, setSent] = useState(false);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    try {
      await call(session.forgot, { body: { email: email.trim() } });
      setSent(true);
    } catch (error) {
      sayFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <SignInTitle text={t('auth.forgot')} />
      <p className={classes['lead']} aria-live="polite">
        {t(sent ? 'auth.resetSent' : 'auth.resetLead')}
      </p>
      <form className={classes['form']} noValidate onSubmit={(event) => void submit(event)}>
        {!sent && (
          <>
            <TextInput
              size="md"
              name="email"
              type="email"
              label={t('auth.fields.email')}
              autoComplete="username"
              inputMode="email"
              spellCheck={false}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" size="md" fullWidth loading={busy} disabled={email.trim() === ''}>
              {t('auth.sendLink')}
            </Button>
          </>
        )}
        <div className={classes['below']}>
          <Link to={to('login')} className={classes['language'] ?? ''}>
            {t('auth.backToSignIn')}
          </Link>
        </div>
      </form>
    </>
  );
}
