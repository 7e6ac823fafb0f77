import { NumberInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';

interface NumberFieldProps {
  name: string;
  min?: number;
  max?: number;
  /** Shown after the number: ` s`. */
  suffix?: string;
  placeholder?: string;
  /** An identifier such as a port: digits are not grouped. */
  plain?: boolean;
  /** 0 means no limit and is shown as an empty field with the placeholder "Unlimited". */
  unlimited?: boolean;
}

export function NumberField({
  name,
  min,
  max,
  suffix,
  placeholder,
  plain = false,
  unlimited = false,
}: NumberFieldProps) {
  const t = useT();
  const { accepted, value, set, input } = useField(name);
  if (!accepted) return null;
  return (
    <NumberInput
      {...input}
      value={typeof value === 'number' && !(unlimited && value === 0) ? value : ''}
      // An empty field is not a number, so the schema reports it as missing.
      onChange={(next) => set(typeof next === 'number' ? next : unlimited ? 0 : undefined)}
      allowDecimal={false}
      clampBehavior="none"
      thousandSeparator={plain ? false : ','}
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      {...(suffix !== undefined && { suffix })}
      {...(placeholder !== undefined && { placeholder })}
      {...(unlimited && { placeholder: t('common.unlimited') })}
    />
  );
}
