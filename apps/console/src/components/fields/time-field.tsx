import { TextInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';

/** Date and time in the console's time zone. */
export function TimeField({
  name,
  nullable = false,
}: {
  name: string;
  /** An empty field is null. */ nullable?: boolean;
}) {
  useT();
  const { accepted, value, set, optional, input } = useField(name);
  if (!accepted) return null;
  return (
    <TextInput
      {...input}
      type="datetime-local"
      max="9999-12-31T23:59"
      required={!nullable && input.required}
      label={<Label text={input.label} optional={optional || nullable} />}
      value={typeof value === 'string' && value !== '' ? toWall(value) : ''}
      onChange={(event) => set(fromWall(event.currentTarget.value) ?? (nullable ? null : ''))}
    />
  );
}
