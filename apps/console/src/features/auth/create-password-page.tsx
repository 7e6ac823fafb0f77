import { mailedTokens } from '@edgeloom/contract/auth/auth.calls.ts';
import { Button } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Navigate, useLocation, useNavigate } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { explain, fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { toast } from '../../stores/toasts.ts';
import { isChosen, NewPassword } from './new-password.tsx';
import classes from './auth.module.css';

interface Link {
  token: string;
  email: string;
}
const isLink = (state: unknown): state is Link =>
  typeof state === 'object' && state !== null && 'token' in state && 'email' in state;

export function CreatePasswordPage() {
  const t = useT();
  const navigate = useNavigate();
  const { state } = useLocation();
  const [chosen, setChosen] = useState({ password: '', again: '' });
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const link: unknown = state;
  if (!isLink(link)) return <Navigate to={to('login')} replace />;
  const { token, email } = link;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setRefused(null);
    try {
      await call(mailedTokens.register, { body: { token, password: chosen.password } });
      toast({ text: t('auth.passwordCreated') });
      await navigate(to('login'), { replace: true });
    } catch (error) {
      const [fault] = fieldErrorsOf(error);
      if (fault) return setRefused(ruleText(fault.rule, fault.message));
      toast({ tone: 'bad', text: explain(error).text });
      await navigate(to('login'), { replace: true });
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <h1 className={classes['title']}>{t('auth.createPassword')}</h1>
      <p className={classes['lead']}>
        <b>{email}</b>
      </p>
      <form className={classes['form']} noValidate onSubmit={(event) => void submit(event)}>
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <NewPassword value={chosen} onChange={setChosen} error={refused} />
        <Button type="submit" size="md" fullWidth loading={busy} disabled={!isChosen(chosen)}>
          {t('auth.setPassword')}
        </Button>
      </form>
    </>
  );
}
