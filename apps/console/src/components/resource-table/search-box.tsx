import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { Kbd } from '../values/values.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

/** Searches within this pause share one history entry. */
const CONTINUED_MS = 2000;
const isContinued = (before: string, typed: string) =>
  before !== '' && typed !== '' && (typed.startsWith(before) || before.startsWith(typed));

/** Debounced search. `/` focuses the field, Esc clears it. */
export function SearchBox({ words, state }: { words: string; state: TableState }) {
  const t = useT();
  const [text, setText] = useState(state.search);
  const [sent, setSent] = useState(state.search);
  const [seen, setSeen] = useState(state.search);
  const sentAt = useRef(0);
  const ask = useDebouncedCallback((typed: string) => {
    const isSame = isContinued(sent, typed) && Date.now() - sentAt.current < CONTINUED_MS;
    sentAt.current = Date.now();
    setSent(typed);
    state.setSearch(typed, isSame);
  }, 250);
  // Clearing filters and browser navigation change the URL, so update the field.
  if (seen !== state.search) {
    setSeen(state.search);
    if (state.search !== sent) {
      setText(state.search);
      setSent(state.search);
    }
  }
  const label = tMaybe(`${words}.search`) ?? t('shared.table.search');
  return (
    <TextInput
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
        // Cancel the pending search.
        ask.cancel();
        setText('');
        setSent('');
        state.setSearch('');
        event.currentTarget.blur();
      }}
      leftSection={<IconSearch size={14} stroke={1.6} />}
      rightSection={text === '' && <Kbd>/</Kbd>}
    />
  );
}
