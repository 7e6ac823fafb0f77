import { ApiError } from '@edgeloom/contract/client.ts';
import { Button, Checkbox, PasswordInput, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router-dom';
import { withCode } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { startSignIn } from '../../lib/sign-in.ts';
import { staySignedIn, staysSignedIn } from '../../stores/session.ts';
import { OtherWays } from './other-ways.tsx';
import { afterSignIn } from './after-sign-in.ts';
import { sayFailure } from './say-failure.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

const REFUSED = 101_012;
const isRefused = (error: unknown) => error instanceof ApiError && error.envelope.code === REFUSED;

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export function LoginPage() {
  const t = useT();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [stays, setStays] = useState(staysSignedIn);
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const emailFault =
    email.trim() === '' ? t('auth.emailRequired') : address.test(email.trim()) ? null : t('auth.emailFormat');
  const passwordFault = password === '' ? t('auth.passwordRequired') : null;
  const leave = (name: string) => setLeft((before) => new Set([...before, name]));

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    setLeft(new Set(['email', 'password']));
    setRefused(null);
    if (emailFault || passwordFault)
      return form.querySelector<HTMLElement>(emailFault ? '[name="email"]' : '[name="password"]')?.focus();
    setBusy(true);
    try {
      const next = await startSignIn(email.trim().toLowerCase(), password);
      await navigate(next === 'done' ? afterSignIn(search) : `${to('login/verifyAccount')}?${search}`, {
        replace: next === 'done',
      });
    } catch (error) {
      if (!isRefused(error)) return sayFailure(error);
      // The same message as for an unknown account, so that addresses are not revealed.
      setRefused(withCode({ text: t('auth.refused'), code: REFUSED }));
      const field = form.querySelector<HTMLInputElement>('[name="password"]');
      field?.focus();
      field?.select();
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <SignInTitle text={t('auth.title')} />
      <p className={classes['lead']}>{t('auth.lead')}</p>
      <form className={classes['form']} noValidate onSubmit={(event) => void submit(event)}>
        <TextInput
          size="md"
          name="email"
          type="email"
          label={t('auth.fields.email')}
          autoComplete="username"
          inputMode="email"
          spellCheck={false}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- this form is the purpose of the page
          autoFocus
          value={email}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            setRefused(null);
          }}
          onBlur={() => email !== '' && leave('email')}
          error={left.has('email') && emailFault}
        />
        <PasswordInput
          size="md"
          name="password"
          label={t('auth.fields.password')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => {
            setPassword(event.currentTarget.value);
            setRefused(null);
          }}
          error={refused ?? (left.has('password') && passwordFault)}
          errorProps={{ role: 'alert' }}
          aria-invalid={refused !== null || (left.has('password') && passwordFault !== null)}
          visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
        />
        <div className={classes['stay']}>
          <Checkbox
            label={t('auth.stay')}
            checked={stays}
            onChange={(event) => {
              staySignedIn(event.currentTarget.checked);
              setStays(event.currentTarget.checked);
            }}
          />
          <Link to={to('login/forgotPassword')}>{t('auth.forgot')}</Link>
        </div>
        <Button type="submit" size="md" fullWidth loading={busy}>
          {t('auth.continue')}
        </Button>
      </form>
      <OtherWays onDone={() => void navigate(afterSignIn(search), { replace: true })} />
    </>
  );
}
