import { useId, useState } from 'react';
import { linesOf, verdictsOf } from '../../components/fields/lines.ts';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { useT } from '../../lib/i18n.ts';

interface LinesSettingProps {
  name: string;
  label: string;
  hint: string;
  value: readonly string[];
  /** What is wrong with a line. */
  judge: (line: string) => string | null;
  placeholder: string;
  disabled: boolean;
  onChange: (lines: string[]) => void;
}

/** What is typed is kept beside what it says: an empty last line is one that is about to be written. */
export function LinesSetting({ name, label, hint, value, judge, placeholder, disabled, onChange }: LinesSettingProps) {
  const t = useT();
  const id = useId();
  const [typed, setTyped] = useState('');
  const text = linesOf(typed).join() === value.join() ? typed : value.join('\n');
  return (
    <LinesInput
      input={{
        id,
        label,
        description: hint,
        disabled,
        name,
        error: null,
        required: false,
        withAsterisk: false,
        onBlur: () => undefined,
      }}
      text={text}
      count={value.length}
      verdicts={verdictsOf(value, judge, t('common.form.twice'))}
      placeholder={placeholder}
      onChange={(next) => {
        setTyped(next);
        onChange(linesOf(next));
      }}
    />
  );
}
