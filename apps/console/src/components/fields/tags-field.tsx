import { TagsInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';

export function TagsField({ name, suggestions = [] }: { name: string; suggestions?: readonly string[] }) {
  const t = useT();
  const { accepted, value, set, inner, input } = useField(name);
  if (!accepted) return null;
  const tags = Array.isArray(value) ? value.map(String) : [];
  return (
    <TagsInput
      {...input}
      label={<Label text={input.label} optional />}
      required={false}
      error={input.error ?? [...inner.values()][0] ?? null}
      data={[...suggestions]}
      value={tags}
      onChange={set}
      splitChars={[',', ' ', '、', '，']}
      {...(tags.length === 0 && { placeholder: t('common.form.addTag') })}
    />
  );
}
