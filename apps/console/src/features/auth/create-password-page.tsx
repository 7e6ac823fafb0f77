import { mailedTokens } from '@edgeloom/contract/auth/auth.calls.ts';
import { Button } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Navigate, useLocation, useNavigate } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { explain, fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { hasTokens, useSession } from '../../stores/session.ts';
import { toast } from '../../stores/toasts.ts';
import { OtherSession } from './other-session.tsx';
import { isChosen, NewPassword } from './new-password.tsx';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

interface Link {
  token: string;
  email: string;
  purpose: 'invitation' | 'reset';
}
const isLink = (state: unknown): state is Link =>
  typeof state === 'object' && state !== null && 'token' in state && 'email' in state && 'purpose' in state;

export function CreatePasswordPage() {
  const t = useT();
  const navigate = useNavigate();
  const { state } = useLocation();
  const [chosen, setChosen] = useState({ password: '', again: '' });
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const link: unknown = state;
  const [account] = useState(() => (hasTokens() ? useSession.getState().account : null));
  const [hasLeft, setHasLeft] = useState(false);
  if (!isLink(link)) return <Navigate to={to('login')} replace />;
  const { token, email, purpose } = link;

  // Signing out opens the sign-in form; this page opens again through the link.
  async function goOn() {
    setHasLeft(true);
    await navigate(to('login/createPassword'), { replace: true, state: link });
  }
  if (account && !hasLeft) return <OtherSession account={account.email} email={email} onLeft={() => void goOn()} />;

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
      <SignInTitle text={t(purpose === 'invitation' ? 'auth.createPassword' : 'auth.choosePassword')} />
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
