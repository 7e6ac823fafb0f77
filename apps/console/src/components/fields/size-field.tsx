import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useField } from '../resource-form/form-state.ts';

const bytesIn = { KiB: 1024, GB: 1_000_000_000 } as const;

/** Stored in bytes, typed in the unit. Keeps the text as typed, because `1.` may become `1.5`. */
export function SizeField({ name, unit }: { name: string; unit: keyof typeof bytesIn }) {
  const { accepted, value, set, input } = useField(name);
  const [typed, setTyped] = useState<string | number>('');
  if (!accepted) return null;
  const bytesOf = (text: string | number) => (text === '' ? undefined : Math.round(Number(text) * bytesIn[unit]));
  const shown = bytesOf(typed) === value ? typed : typeof value === 'number' ? value / bytesIn[unit] : '';
  return (
    <NumberInput
      {...input}
      value={shown}
      min={0}
      allowNegative={false}
      clampBehavior="none"
      decimalScale={2}
      thousandSeparator=","
      suffix={` ${unit}`}
      onChange={(next) => {
        setTyped(next);
        set(bytesOf(next));
      }}
    />
  );
}
