import { useId, useState } from 'react';
import type * as z from 'zod';
import { linesOf, verdictsOf } from '../../components/fields/lines.ts';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';

interface LinesSettingProps {
  name: string;
  label: string;
  hint: string;
  value: readonly string[];
  /** Schema of the whole list. */
  schema: z.ZodType;
  /** Returns the error of a line. */
  judge: (line: string) => string | null;
  /** Error of a duplicate line. */
  twice?: string;
  placeholder: string;
  disabled: boolean;
  onChange: (lines: string[]) => void;
}

/** Keep the text as typed, including an empty last line. */
export function LinesSetting({
  name,
  label,
  hint,
  value,
  schema,
  judge,
  twice,
  placeholder,
  disabled,
  onChange,
}: LinesSettingProps) {
  const t = useT();
  const id = useId();
  const [typed, setTyped] = useState('');
  const text = linesOf(typed).join() === value.join() ? typed : value.join('\n');
  const whole = issuesOf(schema, value).find(({ path }) => path === '');
  return (
    <LinesInput
      input={{
        id,
        label,
        description: hint,
        disabled,
        name,
        error: whole ? ruleText(whole.rule, whole.message, whole.values) : null,
        required: false,
        withAsterisk: false,
        onBlur: () => undefined,
      }}
      text={text}
      count={value.length}
      verdicts={verdictsOf(value, judge, twice ?? t('common.form.twice'))}
      placeholder={placeholder}
      onChange={(next) => {
        setTyped(next);
        onChange(linesOf(next));
      }}
    />
  );
}
