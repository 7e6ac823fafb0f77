import { PasswordInput } from '@mantine/core';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './auth.module.css';

export interface Chosen {
  password: string;
  again: string;
}
const least = 8;

export const isChosen = ({ password, again }: Chosen) => password.length >= least && password === again;

interface NewPasswordProps {
  value: Chosen;
  onChange: (chosen: Chosen) => void;
  /** Error from the server. */
  error: string | null;
}

/** Two password fields with a live hint about the rules. */
export function NewPassword({ value, onChange, error }: NewPasswordProps) {
  const t = useT();
  const shared = {
    size: 'md',
    autoComplete: 'new-password',
    visibilityToggleButtonProps: { 'aria-label': t('common.form.show') },
  } as const;
  const rules = [
    { text: t('auth.ruleLength'), met: value.password.length >= least },
    { text: t('auth.ruleAlike'), met: value.password !== '' && value.password === value.again },
  ];
  return (
    <>
      <PasswordInput
        {...shared}
        name="new-password"
        label={t('auth.fields.newPassword')}
        value={value.password}
        error={error}
        aria-invalid={error !== null}
        onChange={(event) => onChange({ ...value, password: event.currentTarget.value })}
      />
      <PasswordInput
        {...shared}
        name="new-password-again"
        label={t('auth.fields.passwordAgain')}
        value={value.again}
        onChange={(event) => onChange({ ...value, again: event.currentTarget.value })}
      />
      <ul className={classes['rules']}>
        {rules.map(({ text, met }) => (
          <li key={text} className={classes['rule']}>
            <StatusMark tone={met ? 'ok' : 'off'} />
            {text}
            <span className="hidden-text">{t(met ? 'common.yes' : 'common.no')}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
