import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button, PasswordInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useNavigate } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { isChosen, NewPassword } from '../auth/new-password.tsx';
import classes from './security.module.css';

export function ChangePasswordPage() {
  const t = useT();
  const navigate = useNavigate();
  const [old, setOld] = useState('');
  const [chosen, setChosen] = useState({ password: '', again: '' });
  const [refused, setRefused] = useState<string | null>(null);
  const { run, running } = useAction(session.changePassword, { quiet: true, refreshes: ['sessions'] });

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setRefused(null);
    try {
      await run({ body: { oldPassword: old, password: chosen.password } });
      toast({ text: t('security.passwordChanged') });
      await navigate(to('security?tab=devices'));
    } catch (error) {
      const fault = fieldErrorsOf(error).find(({ path }) => path === 'password');
      if (fault) setRefused(ruleText(fault.rule, fault.message));
      else toastError(error);
    }
  }

  return (
    <Page title="security.changePassword">
      <div className={classes['block']}>
        <p className={classes['quiet']}>{t('security.changeWhy')}</p>
        <form noValidate onSubmit={(event) => void submit(event)}>
          <PasswordInput
            size="md"
            name="old-password"
            label={t('security.fields.oldPassword')}
            autoComplete="current-password"
            value={old}
            onChange={(event) => setOld(event.currentTarget.value)}
            visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
          />
          <NewPassword value={chosen} onChange={setChosen} error={refused} />
          <Button type="submit" size="md" loading={running} disabled={old === '' || !isChosen(chosen)}>
            {t('security.changePassword')}
          </Button>
        </form>
      </div>
    </Page>
  );
}
