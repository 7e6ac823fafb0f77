import { Switch } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';

export function SwitchField({ name }: { name: string }) {
  useT();
  const { accepted, value, set, input } = useField(name);
  if (!accepted) return null;
  const { id, label, description, error, disabled, onBlur } = input;
  return (
    <Switch
      {...{ id, name, label, description, error, disabled, onBlur }}
      checked={value === true}
      onChange={(event) => set(event.currentTarget.checked)}
    />
  );
}
