import { MultiSelect, Select, type MultiSelectProps, type SelectProps } from '@mantine/core';
import { count } from '../../lib/format.ts';
import { useT, type T } from '../../lib/i18n.ts';
import type { Choice, MetaChoices } from '../../lib/use-meta.ts';
import classes from './fields.module.css';

type Searched = 'data' | 'value' | 'onChange' | 'filter' | 'limit' | 'searchable' | 'searchValue' | 'onSearchChange';

/** Props shared by both selects: the options, the selected ones, and a line with the number of further options. */
function searched({ page, chosen, more, question, type, loading }: MetaChoices, t: T, isOffered: Offered) {
  const onPage = new Set(page.map(({ value }) => value));
  const others = chosen.filter(({ value }) => !onPage.has(value));
  const isShown = (value: string) => value === MORE || onPage.has(value) || question === '';
  const choices = [...others, ...page].map((choice) => ({ ...choice, disabled: !isOffered(choice) }));
  return {
    data: [
      ...choices,
      ...(more > 0 ? [{ value: MORE, label: t('common.form.searchMore', { more: count(more) }), disabled: true }] : []),
    ],
    // The server has already filtered.
    filter: ({ options }: { options: readonly Item[] }) =>
      options.filter((option) => 'group' in option || isShown(option.value)),
    searchable: true,
    classNames: { option: classes['option'] ?? '' },
    onSearchChange: type,
    nothingFoundMessage: t(loading ? 'common.form.searching' : 'common.states.nothingMatches'),
  } as const;
}
type Item = Parameters<NonNullable<SelectProps['filter']>>[0]['options'][number];
type Offered = (choice: Choice) => boolean;
const MORE = '…';
const always = () => true;

interface MetaSelectProps extends Omit<SelectProps, Searched> {
  choices: MetaChoices;
  value: string | null;
  onChange: (id: string | null) => void;
}

/** Select with server-side search. */
export function MetaSelect({ choices, value, onChange, ...rest }: MetaSelectProps) {
  const t = useT();
  return (
    <Select
      placeholder={t('common.form.choose')}
      {...rest}
      {...searched(choices, t, always)}
      value={choices.chosen.some((choice) => choice.value === value) ? value : null}
      onChange={onChange}
    />
  );
}

interface MetaMultiSelectProps extends Omit<MultiSelectProps, Searched> {
  choices: MetaChoices;
  value: string[];
  onChange: (ids: string[]) => void;
  /** False for an option that is shown but disabled. */
  isOffered?: Offered;
}

/** Maximum number of ids in a call. */
const MAX_CHOSEN = 1000;

/** Multi-select with server-side search. */
export function MetaMultiSelect({
  choices,
  value,
  onChange,
  isOffered = always,
  maxValues = MAX_CHOSEN,
  ...rest
}: MetaMultiSelectProps) {
  const t = useT();
  const isFull = value.length >= maxValues;
  return (
    <MultiSelect
      clearable
      hidePickedOptions
      maxValues={maxValues}
      {...rest}
      {...searched(choices, t, (choice) => !isFull && isOffered(choice))}
      {...(isFull && { description: t('common.form.mostChosen', { most: count(maxValues) }) })}
      value={value}
      onChange={onChange}
    />
  );
}
