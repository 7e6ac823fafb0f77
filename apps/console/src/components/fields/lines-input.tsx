import { Textarea } from '@mantine/core';
import * as format from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Field } from '../resource-form/form-state.ts';
import type { Verdict } from './lines.ts';
import classes from './fields.module.css';

interface LinesInputProps {
  input: Field['input'];
  text: string;
  count: number;
  verdicts: readonly Verdict[];
  placeholder?: string | undefined;
  rows?: number;
  onChange: (text: string) => void;
}

/** Number of errors to list; the rest are counted. */
const SHOWN = 50;

/** A textarea with a line count and errors by line. */
export function LinesInput({ input, text, count, verdicts, placeholder, rows = 6, onChange }: LinesInputProps) {
  const t = useT();
  return (
    <div>
      <Textarea
        {...input}
        description={input.description ?? t('common.form.oneALine')}
        error={input.error ?? verdicts.length > 0}
        aria-describedby={`${input.id}-verdicts`}
        classNames={{ input: classes['lines'] ?? '' }}
        autosize
        minRows={rows}
        maxRows={18}
        spellCheck={false}
        value={text}
        {...(placeholder !== undefined && { placeholder })}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div id={`${input.id}-verdicts`}>
        <div className={classes['tally']}>
          <span>{t('common.form.lines', { count })}</span>
          {verdicts.length > 0 && <span>{t('common.form.badLines', { count: verdicts.length })}</span>}
        </div>
        {verdicts.length > 0 && (
          <ul className={classes['verdicts']}>
            {verdicts.slice(0, SHOWN).map(({ line, text: entry, fault }) => (
              <li key={line} className={classes['verdict']}>
                <span>{t('common.form.line', { line })}</span>
                <code>{entry}</code>
                <span>{fault}</span>
              </li>
            ))}
            {verdicts.length > SHOWN && (
              <li>{t('common.form.moreLines', { more: format.count(verdicts.length - SHOWN) })}</li>
            )}
          </ul>
        )}
      </div>
    </div>
  );
}
