import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Checkbox, Popover, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { count, time } from '../../lib/format.ts';
import { tMaybe, useT, type Word } from '../../lib/i18n.ts';
import { useMetaSearch, type Choice } from '../../lib/use-meta.ts';
import { fieldTitle } from './columns.tsx';
import { FilterInput } from './filter-input.tsx';
import classes from './resource-table.module.css';

export interface Filter {
  /** Query parameter. */
  key: string;
  label?: Word;
  /** Labels come from `<feature>.choices.<key>.<value>`, or from the states of `status`. */
  choices?: readonly string[];
  /** Locale group of state labels, such as `node`. */
  status?: string;
  /** Locale group of the choices, where the feature has them elsewhere: `wafs.categories`. */
  labels?: string;
  /** Endpoint that lists and searches the choices. */
  meta?: Endpoint;
  /** Path parameters of that endpoint. */
  params?: Readonly<Record<string, string>>;
  /** A boolean filter. */
  yesNo?: boolean;
  /** Allows several values. */
  many?: boolean;
  /** Free input, instead of or in addition to choices. */
  typed?: 'text' | 'time';
}

export const labelOf = (filter: Filter, words: string) =>
  (filter.label ? tMaybe(filter.label) : null) ?? fieldTitle(words, filter.key);

export const choiceOf = (filter: Filter, words: string, value: string) =>
  tMaybe(`${filter.labels ?? `${words}.choices.${filter.key}`}.${value}`) ??
  tMaybe(`status.${filter.status ?? filter.key}.${value}`) ??
  value;

/** Choices from the code. */
function choicesOf(filter: Filter, words: string): Choice[] {
  if (filter.yesNo)
    return ['true', 'false'].map((value) => ({
      value,
      label: tMaybe(`common.${value === 'true' ? 'yes' : 'no'}`) ?? value,
    }));
  return (filter.choices ?? []).map((value) => ({ value, label: choiceOf(filter, words, value) }));
}

/** Shorter lists have no search input. */
const SEARCHED_FROM = 8;

/** Formats typed values: instants in the reader's time zone. */
const shownOf = ({ typed }: Filter, value: string) => (typed === 'time' ? time(value) : value);

const operatorOf = ({ many, typed }: Filter, values: readonly string[]): Word =>
  typed === 'text' ? 'shared.table.contains' : many && values.length > 1 ? 'shared.table.isOneOf' : 'shared.table.is';

interface ChipProps {
  words: string;
  filter: Filter;
  values: readonly string[];
  startOpen: boolean;
  onChange: (values: string[]) => void;
  onClose: () => void;
  onRemove: () => void;
}

/** field | operator | value | ✕ */
export function FilterChip({ words, filter, values, startOpen, onChange, onClose, onRemove }: ChipProps) {
  const t = useT();
  const [opened, setOpened] = useState(startOpen);
  const found = useMetaSearch(filter.meta, { params: filter.params, chosen: values });
  const choices = filter.meta ? found.page : choicesOf(filter, words);
  const label = labelOf(filter, words);
  const named = values
    .map((value) => [...found.chosen, ...choices].find((choice) => choice.value === value)?.label)
    .map((name, i) => name ?? (filter.meta ? '…' : shownOf(filter, values[i] ?? '')))
    .join(t('common.comma'));
  const close = () => {
    setOpened(false);
    found.type('');
    onClose();
  };
  const toggle = (value: string) => {
    if (!filter.many) {
      onChange([value]);
      close();
    } else onChange(values.includes(value) ? values.filter((kept) => kept !== value) : [...values, value]);
  };
  return (
    <span className={classes['chip']}>
      <Popover opened={opened} onChange={(is) => !is && close()} position="bottom-start" trapFocus>
        <Popover.Target>
          <button
            type="button"
            className={classes['chipBody']}
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            <span>{label}</span>
            <span>{t(operatorOf(filter, values))}</span>
            <b>{named || t('common.form.choose')}</b>
          </button>
        </Popover.Target>
        <Popover.Dropdown p={4} aria-label={label}>
          {filter.meta && (found.total > SEARCHED_FROM || found.typed !== '') && (
            <TextInput
              size="xs"
              className={classes['choiceSearch'] ?? ''}
              aria-label={t('shared.table.search')}
              placeholder={t('shared.table.search')}
              value={found.typed}
              maxLength={256}
              autoComplete="off"
              spellCheck={false}
              leftSection={<IconSearch size={14} stroke={1.6} />}
              data-autofocus
              onChange={(event) => found.type(event.currentTarget.value)}
            />
          )}
          {(choices.length > 0 || !filter.typed) && (
            <fieldset aria-label={label} className={classes['choices']}>
              {choices.map(({ value, label: choice }) => (
                <button
                  key={value}
                  type="button"
                  className={classes['choice']}
                  aria-pressed={values.includes(value)}
                  onClick={() => toggle(value)}
                >
                  {filter.many && <Checkbox.Indicator size="xs" radius={3} checked={values.includes(value)} />}
                  {choice}
                </button>
              ))}
              {found.more > 0 && (
                <p className={classes['choiceNote']}>{t('common.form.searchMore', { more: count(found.more) })}</p>
              )}
              {filter.meta && choices.length === 0 && (
                <p className={classes['choiceNote']}>
                  {t(found.loading ? 'common.form.searching' : 'common.states.nothingMatches')}
                </p>
              )}
            </fieldset>
          )}
          {filter.typed && (
            <FilterInput
              kind={filter.typed}
              label={label}
              value={values.filter((value) => !filter.choices?.includes(value)).join(',')}
              onDone={(value) => {
                onChange(value === '' ? [] : [value]);
                close();
              }}
            />
          )}
        </Popover.Dropdown>
      </Popover>
      <button
        type="button"
        className={classes['chipRemove']}
        aria-label={t('shared.table.removeFilter', { name: label })}
        onClick={onRemove}
      >
        <IconX size={13} aria-hidden />
      </button>
    </span>
  );
}
