import { ActionIcon, Button, Checkbox, Popover, SegmentedControl, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { faultOf, labelOf, normalized, operatorOf, valueLabel, type LogFilter } from './filters.ts';
import { isNegatable } from './log-state.ts';
import { VisitorText } from './visitor-text.tsx';
import chips from '../../components/resource-table/resource-table.module.css';
import classes from './logs.module.css';

/** Longer lists of choices have a search field. */
const SEARCHED_FROM = 8;

interface FilterChipProps {
  filter: LogFilter;
  isNot: boolean;
  values: readonly string[];
  startOpen: boolean;
  onChange: (values: readonly string[]) => void;
  onNegate: (isNot: boolean) => void;
  onClose: () => void;
  onRemove: () => void;
}

/** field | operator | values | ✕ */
export function FilterChip(props: FilterChipProps) {
  const { filter, isNot, values, startOpen, onChange, onNegate, onClose, onRemove } = props;
  const t = useT();
  const [opened, setOpened] = useState(startOpen);
  const [sought, setSought] = useState('');
  const found = useMetaSearch(filter.meta, { chosen: values });
  const label = labelOf(filter.key);
  const operator = operatorOf(filter, isNot);
  const fixed = (filter.choices?.() ?? []).map((value) => ({ value, label: valueLabel(filter.key, value) }));
  const choices = filter.meta
    ? found.page
    : fixed.filter((choice) => `${choice.label} ${choice.value}`.toLowerCase().includes(sought.trim().toLowerCase()));
  const nameOf = (value: string) =>
    filter.meta
      ? ([...found.chosen, ...found.page].find((choice) => choice.value === value)?.label ?? '…')
      : valueLabel(filter.key, value);
  const isChoice = (value: string) => filter.meta !== undefined || fixed.some((choice) => choice.value === value);
  const typed = values.filter((value) => !isChoice(value));
  const isSearched = filter.meta ? found.total > SEARCHED_FROM || found.typed !== '' : fixed.length > SEARCHED_FROM;
  const close = () => {
    setOpened(false);
    setSought('');
    found.type('');
    onClose();
  };
  const without = (value: string) => values.filter((kept) => kept !== value);
  return (
    <span className={chips['chip']} data-not={isNot || undefined}>
      <Popover opened={opened} onChange={(is) => !is && close()} position="bottom-start" trapFocus returnFocus>
        <Popover.Target>
          <button
            type="button"
            className={chips['chipBody']}
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => (opened ? close() : setOpened(true))}
          >
            <span>{label}</span>
            <span className={classes['operator']}>{t(operator)}</span>
            <b>
              <VisitorText text={values.map(nameOf).join(t('common.comma')) || t('common.form.choose')} />
            </b>
          </button>
        </Popover.Target>
        <Popover.Dropdown p={4} aria-label={label} className={classes['filterBox'] ?? ''}>
          {isNegatable(filter.key) && (
            <SegmentedControl
              size="xs"
              fullWidth
              aria-label={t('logs.operator')}
              data={[false, true].map((not) => ({ value: String(not), label: t(operatorOf(filter, not)) }))}
              value={String(isNot)}
              onChange={(value) => onNegate(value === 'true')}
            />
          )}
          {isSearched && (
            <TextInput
              size="xs"
              className={chips['choiceSearch'] ?? ''}
              aria-label={t('shared.table.search')}
              placeholder={t('shared.table.search')}
              value={filter.meta ? found.typed : sought}
              maxLength={256}
              autoComplete="off"
              spellCheck={false}
              leftSection={<IconSearch size={14} stroke={1.6} />}
              data-autofocus
              onChange={({ currentTarget: { value } }) => (filter.meta ? found.type(value) : setSought(value))}
            />
          )}
          {(filter.meta ?? filter.choices) && (
            <fieldset aria-label={label} className={chips['choices']}>
              {choices.map((choice) => (
                <button
                  key={choice.value}
                  type="button"
                  className={chips['choice']}
                  aria-pressed={values.includes(choice.value)}
                  onClick={() =>
                    onChange(values.includes(choice.value) ? without(choice.value) : [...values, choice.value])
                  }
                >
                  <Checkbox.Indicator size="xs" radius={3} checked={values.includes(choice.value)} />
                  {choice.label}
                </button>
              ))}
              {filter.meta && found.more > 0 && (
                <p className={chips['choiceNote']}>{t('common.form.searchMore', { more: count(found.more) })}</p>
              )}
              {choices.length === 0 && (
                <p className={chips['choiceNote']}>
                  {t(filter.meta && found.loading ? 'common.form.searching' : 'common.states.nothingMatches')}
                </p>
              )}
            </fieldset>
          )}
          {typed.length > 0 && (
            <ul className={classes['typed']} aria-label={t('logs.values')}>
              {typed.map((value) => (
                <li key={value}>
                  <VisitorText text={value} />
                  <ActionIcon
                    size={22}
                    aria-label={t('logs.removeValue', { value })}
                    onClick={() => onChange(without(value))}
                  >
                    <IconX size={14} stroke={1.6} />
                  </ActionIcon>
                </li>
              ))}
            </ul>
          )}
          {filter.typed && (
            <ValueInput
              filter={filter}
              label={label}
              onAdd={(value) => onChange(filter.single ? [value] : [...values, value])}
            />
          )}
        </Popover.Dropdown>
      </Popover>
      <button
        type="button"
        className={chips['chipRemove']}
        aria-label={t('shared.table.removeFilter', { name: label })}
        onClick={onRemove}
      >
        <IconX size={13} aria-hidden />
      </button>
    </span>
  );
}

interface ValueInputProps {
  filter: LogFilter;
  label: string;
  onAdd: (value: string) => void;
}

/** Adds one value. What the API would refuse stays in the field, with the reason. */
function ValueInput({ filter: { key, choices }, label, onAdd }: ValueInputProps) {
  const t = useT();
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const value = normalized(key, text);
    if (value === '') return;
    const found = faultOf(key, value);
    setFault(found);
    if (found !== null) return;
    setText('');
    onAdd(value);
  };
  return (
    <form className={chips['filterInput']} onSubmit={submit}>
      <TextInput
        aria-label={label}
        value={text}
        error={fault}
        maxLength={512}
        autoComplete="off"
        spellCheck={false}
        className={classes['valueInput'] ?? ''}
        {...(!choices && { 'data-autofocus': true })}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setFault(null);
        }}
      />
      <Button type="submit" size="sm">
        {t('common.add')}
      </Button>
    </form>
  );
}
