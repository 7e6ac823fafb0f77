import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { TagsInput, type TagsInputProps } from '@mantine/core';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';

interface TagsFieldProps extends Pick<TagsInputProps, 'description' | 'onSearchChange'> {
  name: string;
  suggestions?: readonly string[];
  optional?: boolean;
}

export function TagsField({ name, suggestions = [], optional = true, ...rest }: TagsFieldProps) {
  const t = useT();
  const { accepted, value, set, inner, input } = useField(name);
  if (!accepted) return null;
  const tags = Array.isArray(value) ? value.map(String) : [];
  return (
    <TagsInput
      {...input}
      {...rest}
      label={<Label text={input.label} optional={optional} />}
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

interface KnownTagsFieldProps {
  name: string;
  /** Lists the tags in use. */
  meta: Endpoint;
  params?: Readonly<Record<string, string>>;
}

/** Suggests tags in use. The server searches them, and the number of further ones is shown. */
export function KnownTagsField({ name, meta, params }: KnownTagsFieldProps) {
  const t = useT();
  const { page, more, type } = useMetaSearch(meta, { params });
  return (
    <TagsField
      name={name}
      suggestions={page.map(({ value }) => value)}
      onSearchChange={type}
      {...(more > 0 && { description: t('common.form.searchMore', { more: count(more) }) })}
    />
  );
}
