import { login2fa, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { call } from '../../lib/api.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { toast } from '../../stores/toasts.ts';
import { sayFailure } from '../auth/say-failure.ts';
import classes from './security.module.css';

interface ProveFormProps {
  /** Label of the action, and the success message. */
  verb: Word;
  done: Word;
  danger?: boolean;
  /** Also asks for a name. */
  named?: boolean;
  run: (verifyToken: string, name: string) => Promise<unknown>;
}

/** Asks for the password again before a sensitive action. */
export function ProveForm({ verb, done, danger = false, named = false, run }: ProveFormProps) {
  const t = useT();
  const close = useOverlayClose();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    try {
      const { verifyToken } = await call(session.verify, { body: { password } });
      await run(verifyToken, name.trim());
      await refresh(['passkeys', login2fa.state.feature]);
      toast({ text: t(done) });
      close();
    } catch (error) {
      sayFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={classes['drawer']} noValidate onSubmit={(event) => void submit(event)}>
      {named && (
        <TextInput
          label={t('security.fields.passkeyName')}
          description={t('security.passkeyNameHint')}
          maxLength={256}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <PasswordInput
        label={t('auth.fields.password')}
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
      />
      <Button
        type="submit"
        loading={busy}
        disabled={password === '' || (named && name.trim() === '')}
        {...(danger && { color: 'red' })}
      >
        {t(verb)}
      </Button>
    </form>
  );
}
