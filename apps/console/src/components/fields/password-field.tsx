import { PasswordInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';

export function PasswordField({
  name,
  fresh = false,
}: {
  name: string;
  /** A new password, not one to be remembered. */ fresh?: boolean;
}) {
  const t = useT();
  const { accepted, value, set, input } = useField(name);
  if (!accepted) return null;
  return (
    <PasswordInput
      {...input}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => set(event.currentTarget.value)}
      // Mantine marks the box around the input, which neither screen readers nor the error summary find.
      aria-invalid={input.error !== null}
      autoComplete={fresh ? 'new-password' : 'current-password'}
      visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
    />
  );
}
