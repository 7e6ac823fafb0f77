import {
  TimeFormat,
  TimeMeans,
  TokenAlgorithm,
  TokenEncoding,
  TokenPlace,
} from '@edgeloom/contract/modules/token-auths.ts';
import { textVariables, tokenVariables } from '@edgeloom/contract/modules/token-recipe.ts';
import { ActionIcon, Button, NumberInput, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import classes from './modules.module.css';
import type { Entry } from './token-form.ts';

export interface EntryProps {
  n: number;
  entry: Entry;
  fault: (field: string) => string | undefined;
  /** Error of the field or of a part of it. */
  faultIn: (field: string) => string | undefined;
  onBlur: () => void;
  onChange: (part: Partial<Entry>) => void;
}

const inBraces = (names: readonly string[]) => names.map((name) => `{${name}}`).join(' ');

/** Parts of a custom token format. */
export function TokenRecipe({ n, entry, fault, onBlur, onChange }: EntryProps) {
  const t = useT();
  const mono = { classNames: { input: classes['mono'] ?? '' }, spellCheck: false, autoCapitalize: 'off', onBlur };
  const { parts, place } = entry;
  const setPart = (i: number, part: Partial<(typeof parts)[number]>) =>
    onChange({ parts: parts.map((one, at) => (at === i ? { ...one, ...part } : one)) });
  const choose = <Value extends string>(
    field: 'place' | 'algorithm' | 'encoding' | 'timeFormat' | 'timeMeans',
    options: readonly Value[],
    label: (value: Value) => string,
    take: (value: Value) => void,
  ) => (
    <Select
      label={t(`tokenAuths.fields.${field}`)}
      data={options.map((value): { value: string; label: string } => ({ value, label: label(value) }))}
      value={entry[field]}
      allowDeselect={false}
      error={fault(field)}
      onChange={(next) => {
        const value = options.find((one) => one === next);
        if (value !== undefined) take(value);
      }}
    />
  );
  return (
    <>
      <div className={classes['pair']}>
        {choose(
          'place',
          TokenPlace.options,
          (value) => t(`tokenAuths.choices.place.${value}`),
          (value) =>
            onChange({
              place: value,
              parts: value === 'path' ? parts.slice(0, 1).map((part) => ({ ...part, name: '' })) : parts,
            }),
        )}
      </div>
      {parts.map((part, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- a part is identified by its position
        <div key={i} className={classes['part']}>
          {place === 'path' ? (
            <span className={classes['caption']}>{t('tokenAuths.beforePath')}</span>
          ) : (
            <TextInput
              {...mono}
              label={t('tokenAuths.nth.partName', { n: i + 1 })}
              value={part.name}
              error={fault(`parts.${i}.name`)}
              onChange={({ currentTarget }) => setPart(i, { name: currentTarget.value })}
            />
          )}
          <TextInput
            {...mono}
            label={t('tokenAuths.nth.partFormat', { n: i + 1 })}
            value={part.format}
            error={fault(`parts.${i}.format`)}
            onChange={({ currentTarget }) => setPart(i, { format: currentTarget.value })}
          />
          <ActionIcon
            aria-label={t('tokenAuths.nth.removePart', { n: i + 1 })}
            disabled={parts.length === 1}
            onClick={() => onChange({ parts: parts.toSpliced(i, 1) })}
          >
            <IconX size={15} stroke={1.6} />
          </ActionIcon>
        </div>
      ))}
      {fault('parts') !== undefined && <p className={classes['fault']}>{fault('parts')}</p>}
      <p className={classes['hint']}>{inBraces(tokenVariables)}</p>
      {place !== 'path' && parts.length < 4 && (
        <div>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} stroke={1.8} />}
            onClick={() => onChange({ parts: [...parts, { name: '', format: '' }] })}
          >
            {t('tokenAuths.addPart')}
          </Button>
        </div>
      )}
      <TextInput
        {...mono}
        label={t('tokenAuths.nth.text', { n })}
        description={inBraces(textVariables)}
        value={entry.text}
        error={fault('text')}
        onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
      />
      <div className={classes['pair']}>
        {choose(
          'algorithm',
          TokenAlgorithm.options,
          (value) => t(`tokenAuths.algorithms.${value}`),
          (algorithm) => onChange({ algorithm }),
        )}
        {choose(
          'encoding',
          TokenEncoding.options,
          (value) => t(`tokenAuths.choices.encoding.${value}`),
          (encoding) => onChange({ encoding }),
        )}
        {choose(
          'timeFormat',
          TimeFormat.options,
          (value) => t(`tokenAuths.choices.timeFormat.${value}`),
          (timeFormat) => onChange({ timeFormat }),
        )}
        {entry.timeFormat === 'minutes' && (
          <NumberInput
            label={t('tokenAuths.fields.utcOffset')}
            value={entry.utcOffset}
            error={fault('utcOffset')}
            allowDecimal={false}
            clampBehavior="none"
            onBlur={onBlur}
            onChange={(next) => onChange({ utcOffset: Number(next) })}
          />
        )}
        {choose(
          'timeMeans',
          TimeMeans.options,
          (value) => t(`tokenAuths.choices.timeMeans.${value}`),
          (timeMeans) => onChange({ timeMeans }),
        )}
      </div>
    </>
  );
}
