import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';

interface NumberSettingProps {
  label: string;
  hint?: string | null;
  /** Shown after the number: ` min`. */
  suffix?: string | undefined;
  value: number;
  /** Factor between the shown and the stored number. */
  unit?: number;
  min: number;
  max: number;
  decimals?: number;
  disabled: boolean;
  /** 0 means no limit and is shown as an empty field with the placeholder "Unlimited". */
  unlimited?: boolean;
  onChange: (value: number) => void;
}

/** A required number: an empty field restores the current value on blur. */
export function NumberSetting(props: NumberSettingProps) {
  const { label, hint = null, suffix = '', value, unit = 1, min, max, decimals = 0, disabled, onChange } = props;
  const { unlimited = false } = props;
  const t = useT();
  const [emptied, setEmptied] = useState(0);
  return (
    <NumberInput
      key={emptied}
      label={label}
      description={hint}
      suffix={suffix}
      value={unlimited && value === 0 ? '' : value / unit}
      {...(unlimited && { placeholder: t('common.unlimited') })}
      min={min}
      max={max}
      decimalScale={decimals}
      allowDecimal={decimals > 0}
      allowNegative={false}
      thousandSeparator=","
      disabled={disabled}
      onChange={(next) => {
        if (typeof next === 'number') onChange(Math.round(next * unit));
        else if (unlimited) onChange(0);
      }}
      onBlur={(event) => event.currentTarget.value === '' && !unlimited && setEmptied(emptied + 1)}
    />
  );
}
