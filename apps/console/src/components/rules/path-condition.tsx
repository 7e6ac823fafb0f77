import type { Paths } from '@edgeloom/contract/common/paths.ts';
import { Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './rules.module.css';

interface PathConditionProps<Type extends Paths['type']> {
  types: readonly Type[];
  type: Type;
  value: string[];
  /** Error of the values, shown after they were touched or publishing failed. */
  fault: string | undefined;
  tried: boolean;
  onChange: (paths: { type: Type; value: string[] }) => void;
}

interface IfPathProps<Type extends Paths['type']> extends Omit<PathConditionProps<Type>, 'type' | 'value'> {
  of: Pick<PathConditionProps<Type>, 'type' | 'value'>;
}

/** The first line of a rule editor. */
export function IfPath<Type extends Paths['type']>({ of: { type, value }, ...rest }: IfPathProps<Type>) {
  const t = useT();
  return (
    <>
      <span className={classes['joint']}>{t('shared.rule.if')}</span>
      <PathCondition type={type} value={value} {...rest} />
    </>
  );
}

/** The URLs that a rule applies to. */
export function PathCondition<Type extends Paths['type']>({
  types,
  type,
  value,
  fault,
  tried,
  onChange,
}: PathConditionProps<Type>) {
  const t = useT();
  // Keep the text as typed, so that a trailing space does not vanish.
  const [text, setText] = useState(value.join(type === 'fileType' ? ' ' : '\n'));
  const [touched, setTouched] = useState(value.length > 0);
  const about: Paths['type'] = type;
  const values = {
    'aria-label': t('shared.paths.value'),
    placeholder: about === 'all' ? '' : t(`shared.paths.hint.${about}`),
    value: text,
    error: (touched || tried) && fault,
    spellCheck: false,
    autoCapitalize: 'off',
    onBlur: () => setTouched(true),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      setText(currentTarget.value);
      onChange({ type, value: valuesOf(type, currentTarget.value) });
    },
  };
  return (
    <div className={classes['condition']}>
      <div className={classes['type']}>
        <Select
          aria-label={t('shared.paths.type')}
          data={types.map((one) => ({ value: one, label: t(`shared.paths.choice.${one}`) }))}
          value={type}
          allowDeselect={false}
          onChange={(chosen) => {
            const next = types.find((name) => name === chosen) ?? type;
            onChange({ type: next, value: valuesOf(next, text) });
          }}
        />
      </div>
      {type !== 'all' && (
        <div className={classes['values']}>
          {type === 'url' || type === 'prefix' ? (
            <Textarea {...values} autosize minRows={1} maxRows={10} classNames={{ input: classes['mono'] ?? '' }} />
          ) : (
            <TextInput {...values} classNames={{ input: classes['mono'] ?? '' }} />
          )}
        </div>
      )}
    </div>
  );
}

/** Splits `jpg, png` and lists of lines. Patterns may contain spaces and commas. */
export function valuesOf(type: Paths['type'], text: string): string[] {
  if (type === 'all') return [];
  const parts =
    type === 'regex'
      ? [text.trim()]
      : type === 'fileType'
        ? wordsOf(text.toLowerCase()).map((word) => word.replace(/^\.+/, ''))
        : text.split('\n').map((line) => line.trim());
  return parts.filter((value) => value !== '');
}

/** Separated by spaces or commas of any script. */
export const wordsOf = (text: string) => text.split(/[\s,，、]+/).filter((word) => word !== '');
