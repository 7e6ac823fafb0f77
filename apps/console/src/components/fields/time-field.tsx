import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';
import { TimeInput } from './time-input.tsx';

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
    <TimeInput
      {...input}
      required={!nullable && input.required}
      label={<Label text={input.label} optional={optional || nullable} />}
      value={typeof value === 'string' ? value : null}
      onChange={(time) => set(time ?? (nullable ? null : ''))}
    />
  );
}
