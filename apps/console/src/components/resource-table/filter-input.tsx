import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';
import classes from './resource-table.module.css';

interface FilterInputProps {
  kind: 'text' | 'time';
  label: string;
  value: string;
  onDone: (value: string) => void;
}

/** Free input of a filter: a text, or a time in the reader's time zone. */
export function FilterInput({ kind, label, value, onDone }: FilterInputProps) {
  const t = useT();
  const [text, setText] = useState(kind === 'time' && value !== '' ? toWall(value) : value);
  const asked = kind === 'time' && text !== '' ? fromWall(text) : text.trim();
  return (
    <form
      className={classes['filterInput']}
      onSubmit={(event) => {
        event.preventDefault();
        if (asked !== null) onDone(asked);
      }}
    >
      <TextInput
        type={kind === 'time' ? 'datetime-local' : 'text'}
        aria-label={label}
        value={text}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" size="sm">
        {t('common.apply')}
      </Button>
    </form>
  );
}
