import { useEffect, useRef } from 'react';
import classes from './auth.module.css';

interface CodeBoxesProps {
  id: string;
  label: string;
  value: string;
  wrong: boolean;
  disabled: boolean;
  onChange: (code: string) => void;
}

/** Six boxes backed by one input, so that pasting, autofill and the label work. */
export function CodeBoxes({ id, label, value, wrong, disabled, onChange }: CodeBoxesProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!disabled) input.current?.focus();
  }, [disabled]);
  return (
    <div className={classes['boxes']} data-wrong={wrong || undefined}>
      <input
        ref={input}
        id={id}
        className={classes['boxInput']}
        aria-label={label}
        aria-invalid={wrong}
        inputMode="numeric"
        autoComplete="one-time-code"
        disabled={disabled}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value.replace(/\D/g, '').slice(0, 6))}
      />
      {Array.from({ length: 6 }, (_, i) => (
        <span
          key={i}
          className={classes['box']}
          aria-hidden
          data-current={i === Math.min(value.length, 5) || undefined}
        >
          {value[i] ?? ''}
        </span>
      ))}
    </div>
  );
}
