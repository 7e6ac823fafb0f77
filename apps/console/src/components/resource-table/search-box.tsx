import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { Kbd } from '../values/values.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

/** Asks when typing rests; `/` leads here, Esc empties it. */
export function SearchBox({ words, state }: { words: string; state: TableState }) {
  const t = useT();
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
  const label = tMaybe(`${words}.search`) ?? t('common.table.search');
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
        // What was typed a moment ago is no longer asked.
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
