import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';

interface Props extends Omit<TextInputProps, 'value' | 'onChange' | 'type' | 'max'> {
  value: string | null;
  /** Gets '' for an incomplete time, which the schemas of times reject, and null for an empty input. */
  onChange: (value: string | null) => void;
}

/** Date and time in the console's time zone. */
export function TimeInput({ value, onChange, onBlur, error, ...input }: Props) {
  const t = useT();
  const [isIncomplete, setIncomplete] = useState(false);
  // Browsers send no change event when an incomplete time becomes empty, or an empty one incomplete.
  const readBlank = ({ value: text, validity }: HTMLInputElement) => {
    const blank = validity.badInput ? '' : null;
    if (text === '' && blank !== value) onChange(blank);
  };
  return (
    <TextInput
      {...input}
      type="datetime-local"
      max="9999-12-31T23:59"
      error={isIncomplete ? t('common.incompleteTime') : error}
      value={value ? toWall(value) : ''}
      onChange={({ currentTarget }) => {
        setIncomplete(false);
        onChange(fromWall(currentTarget.value) ?? (currentTarget.validity.badInput ? '' : null));
      }}
      onKeyUp={({ currentTarget }) => readBlank(currentTarget)}
      onBlur={(event) => {
        setIncomplete(event.currentTarget.validity.badInput);
        readBlank(event.currentTarget);
        onBlur?.(event);
      }}
    />
  );
}
