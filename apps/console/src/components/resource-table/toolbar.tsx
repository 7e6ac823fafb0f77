import { Button, Checkbox, Menu, Popover, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { IconColumns3, IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { useRef, useState, type ReactNode } from 'react';
import { t, tMaybe, useT, type Word } from '../../lib/i18n.ts';
import { useEndpoint, type Result } from '../../lib/use-endpoint.ts';
import { Kbd } from '../values/values.tsx';
import { useLetterKeys } from '../../lib/use-letter-keys.ts';
import { fieldTitle } from './columns.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

export interface Filter {
  /** The query parameter. */
  key: string;
  label?: Word;
  /** Named by `<feature>.choices.<key>.<value>`, else by the states of `status`. */
  choices?: readonly string[];
  /** Names of the choices, where they are states: `node`. */
  status?: string;
  /** Choices that another call gives: zones, products. */
  meta?: Endpoint;
  /** True or false. */
  yesNo?: boolean;
  /** Several values may be chosen. */
  many?: boolean;
}

interface ToolbarProps {
  words: string;
  state: TableState;
  search: string | undefined;
  filters: readonly Filter[];
  columns: readonly { key: string; title: string; shown: boolean }[];
  onColumn: (key: string, shown: boolean) => void;
  children?: ReactNode;
}

export function Toolbar({ words, state, search, filters, columns, onColumn, children }: ToolbarProps) {
  const t = useT();
  return (
    <div className={classes['toolbar']}>
      {search !== undefined && <Search words={words} state={state} />}
      {filters.length > 0 && <Filters words={words} state={state} filters={filters} />}
      <div className={classes['toolbarEnd']}>
        {children}
        {columns.length > 2 && (
          <Menu position="bottom-end">
            <Menu.Target>
              <Button
                variant="subtle"
                color="gray"
                size="xs"
                className={classes['quiet'] ?? ''}
                leftSection={<IconColumns3 size={15} stroke={1.6} />}
              >
                {t('common.table.columns')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {columns.slice(1).map(({ key, title, shown }) => (
                <Menu.CheckboxItem key={key} checked={shown} onChange={(on) => onColumn(key, on)}>
                  {title}
                </Menu.CheckboxItem>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
    </div>
  );
}

function Search({ words, state }: { words: string; state: TableState }) {
  const t = useT();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(state.search);
  const [sent, setSent] = useState(state.search);
  const [seen, setSeen] = useState(state.search);
  const ask = useDebouncedCallback((typed: string) => {
    setSent(typed);
    state.setSearch(typed);
  }, 250);
  // Cleared filters and a step back in history change the address, and the box follows; what it sent itself is no news.
  if (seen !== state.search) {
    setSeen(state.search);
    if (state.search !== sent) setText(state.search);
  }
  useLetterKeys({ '/': () => input.current?.focus() });
  const label = tMaybe(`${words}.search`) ?? t('common.table.search');
  return (
    <TextInput
      ref={input}
      type="search"
      size="xs"
      className={classes['search'] ?? ''}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        ask(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        setText('');
        state.setSearch('');
        event.currentTarget.blur();
      }}
      leftSection={<IconSearch size={14} stroke={1.6} />}
      rightSection={text === '' && <Kbd>/</Kbd>}
    />
  );
}

interface FiltersProps {
  words: string;
  state: TableState;
  filters: readonly Filter[];
}

function Filters({ words, state, filters }: FiltersProps) {
  const t = useT();
  const [adding, setAdding] = useState<string | null>(null);
  const set = filters.filter(({ key }) => (state.filters[key] ?? []).length > 0 || key === adding);
  const unset = filters.filter((filter) => !set.includes(filter));
  return (
    <>
      {set.map((filter) => (
        <FilterChip
          key={filter.key}
          words={words}
          filter={filter}
          values={state.filters[filter.key] ?? []}
          startOpen={filter.key === adding}
          onChange={(values) => state.setFilter(filter.key, values)}
          onClose={() => setAdding(null)}
          onRemove={() => {
            setAdding(null);
            state.setFilter(filter.key, []);
          }}
        />
      ))}
      {unset.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <button type="button" className={classes['addFilter']}>
              <IconPlus size={14} stroke={1.6} aria-hidden />
              {t('common.table.filter')}
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            {unset.map((filter) => (
              <Menu.Item key={filter.key} onClick={() => setAdding(filter.key)}>
                {labelOf(filter, words)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

const labelOf = (filter: Filter, words: string) =>
  (filter.label ? tMaybe(filter.label) : null) ?? fieldTitle(words, filter.key);

interface Choice {
  value: string;
  label: string;
}

const choiceOf = (filter: Filter, words: string, value: string) =>
  tMaybe(`${words}.choices.${filter.key}.${value}`) ??
  tMaybe(`status.${filter.status ?? filter.key}.${value}`) ??
  value;

/** The choices of a filter, whether they stand in the code or come from a call. */
function useChoices(filter: Filter, words: string): Choice[] {
  useT();
  const asked = useMeta(filter.meta);
  if (filter.meta) return asked;
  if (filter.yesNo)
    return ['true', 'false'].map((value) => ({
      value,
      label: tMaybe(`common.${value === 'true' ? 'yes' : 'no'}`) ?? value,
    }));
  return (filter.choices ?? []).map((value) => ({ value, label: choiceOf(filter, words, value) }));
}

const isNamed = (item: unknown): item is { id: string; name: string } =>
  typeof item === 'object' &&
  item !== null &&
  'id' in item &&
  'name' in item &&
  typeof item.id === 'string' &&
  typeof item.name === 'string';

/** The names behind ids, as the meta calls give them. */
export function useMeta(endpoint: Endpoint | undefined, params?: Readonly<Record<string, string>>): Choice[] {
  const { data }: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    { ...(params && { params }) },
    { enabled: endpoint !== undefined },
  );
  if (typeof data !== 'object' || data === null || !('data' in data) || !Array.isArray(data.data)) return [];
  return data.data.filter(isNamed).map(({ id, name }) => ({ value: id, label: name }));
}
const nothing: Endpoint = { method: 'GET', path: '', feature: '', name: '', mounts: [], can: 'anyone' };

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
  const choices = useChoices(filter, words);
  const label = labelOf(filter, words);
  const named = values
    .map((value) => choices.find((choice) => choice.value === value)?.label ?? value)
    .join(t('common.comma'));
  const close = () => {
    setOpened(false);
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
            <span>{t(filter.many && values.length > 1 ? 'common.table.isOneOf' : 'common.table.is')}</span>
            <b>{named || t('common.form.choose')}</b>
          </button>
        </Popover.Target>
        <Popover.Dropdown p={4} aria-label={label}>
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
          </fieldset>
        </Popover.Dropdown>
      </Popover>
      <button
        type="button"
        className={classes['chipRemove']}
        aria-label={t('common.table.removeFilter', { name: label })}
        onClick={onRemove}
      >
        <IconX size={13} aria-hidden />
      </button>
    </span>
  );
}

/** The filters in words, for the state in which they hide every row. */
export const filtersInWords = (state: TableState, filters: readonly Filter[], words: string) => [
  ...(state.search ? [state.search] : []),
  ...filters.flatMap((filter) => {
    const values = state.filters[filter.key] ?? [];
    if (values.length === 0) return [];
    const named = values.map((value) => choiceOf(filter, words, value)).join(t('common.comma'));
    // The names behind ids are the chip's to show.
    return filter.choices
      ? [`${labelOf(filter, words)} ${t(values.length > 1 ? 'common.table.isOneOf' : 'common.table.is')} ${named}`]
      : [labelOf(filter, words)];
  }),
];
