import { Textarea, TextInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';

interface TextFieldProps {
  name: string;
  placeholder?: string;
  /** A textarea. */
  long?: boolean;
  /** An empty field is sent as null. */
  nullable?: boolean;
  mono?: boolean;
  autoFocus?: boolean;
}

export function TextField({
  name,
  placeholder,
  long = false,
  nullable = false,
  mono = false,
  autoFocus = false,
}: TextFieldProps) {
  useT();
  const { accepted, value, set, optional, input } = useField(name);
  if (!accepted) return null;
  const props = {
    ...input,
    label: <Label text={input.label} optional={optional || nullable} />,
    value: typeof value === 'string' ? value : '',
    onChange: (event: { currentTarget: { value: string } }) => {
      const text = event.currentTarget.value;
      set(nullable && text === '' ? null : text);
    },
    autoComplete: 'off',
    spellCheck: false,
    ...(placeholder !== undefined && { placeholder }),
    ...(mono && { styles: { input: { fontFamily: 'var(--el-mono)', fontSize: 12 } } }),
    ...(autoFocus && { 'data-autofocus': true }),
  };
  return long ? <Textarea {...props} autosize minRows={3} maxRows={12} /> : <TextInput {...props} />;
}
