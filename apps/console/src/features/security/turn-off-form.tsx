import { login2fa } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import classes from './security.module.css';

export function TurnOffForm() {
  const t = useT();
  const close = useOverlayClose();
  const [password, setPassword] = useState('');
  const [vcode, setVcode] = useState('');
  const { run, running } = useAction(login2fa.turnOff, { done: 'security.turnedOff' });

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if ((await run({ body: { password, vcode: vcode.trim() } })) !== null) close();
  }
  return (
    <form className={classes['drawer']} noValidate onSubmit={(event) => void submit(event)}>
      <PasswordInput
        label={t('auth.fields.password')}
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
      />
      <TextInput
        label={t('security.fields.codeOrRecovery')}
        autoComplete="one-time-code"
        spellCheck={false}
        value={vcode}
        onChange={(event) => setVcode(event.currentTarget.value)}
      />
      <Button type="submit" color="red" loading={running} disabled={password === '' || vcode.trim() === ''}>
        {t('security.turnOff')}
      </Button>
    </form>
  );
}
