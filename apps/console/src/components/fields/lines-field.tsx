import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { issuesOf, bare } from '../../lib/schema.ts';
import { ruleText } from '../../lib/errors.ts';
import * as z from 'zod';
import { useField } from '../resource-form/form-state.ts';
import { linesOf, verdictsOf, type Judge } from './lines.ts';
import classes from './fields.module.css';

interface LinesFieldProps {
  name: string;
  /** By default the schema of the list's entries judges. */
  judge?: Judge;
  placeholder?: string;
  rows?: number;
}

/** A list, one entry a line, each with its own verdict. */
export function LinesField({ name, judge, placeholder, rows = 6 }: LinesFieldProps) {
  const t = useT();
  const { accepted, value, set, schema, inner, input } = useField(name);
  const given = Array.isArray(value) ? value.map(String) : [];
  // What is typed is kept as it is typed: the list it stands for has no empty last line.
  const [text, setText] = useState(given.join('\n'));
  const shown = sameLines(text, given) ? text : given.join('\n');
  if (!accepted) return null;
  const lines = linesOf(shown);
  const faults = verdictsOf(lines, judge ?? judgeOf(schema), t('common.form.twice'));
  const refused = [...inner].flatMap(([path, fault]) => {
    const index = Number(path.split('.')[0]);
    const line = lines[index];
    return line !== undefined && !faults.some((verdict) => verdict.line === index + 1)
      ? [{ line: index + 1, text: line, fault }]
      : [];
  });
  const all = [...faults, ...refused].toSorted((a, b) => a.line - b.line);
  return (
    <div>
      <Textarea
        {...input}
        description={input.description ?? t('common.form.oneALine')}
        error={input.error ?? all.length > 0}
        aria-describedby={`${input.id}-verdicts`}
        classNames={{ input: classes['lines'] ?? '' }}
        autosize
        minRows={rows}
        maxRows={18}
        spellCheck={false}
        value={shown}
        {...(placeholder !== undefined && { placeholder })}
        onChange={(event) => {
          setText(event.currentTarget.value);
          set(linesOf(event.currentTarget.value));
        }}
      />
      <div id={`${input.id}-verdicts`}>
        <div className={classes['tally']}>
          <span>{t('common.form.lines', { count: lines.length })}</span>
          {all.length > 0 && <span>{t('common.form.badLines', { count: all.length })}</span>}
        </div>
        {all.length > 0 && (
          <ul className={classes['verdicts']}>
            {all.slice(0, 50).map(({ line, text: entry, fault }) => (
              <li key={line} className={classes['verdict']}>
                <span>{t('common.form.line', { line })}</span>
                <code>{entry}</code>
                <span>{fault}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

const sameLines = (text: string, lines: readonly string[]) => linesOf(text).join('\n') === lines.join('\n');

const judgeOf = (schema: unknown): Judge => {
  const list = bare(schema);
  if (!(list instanceof z.ZodArray)) return () => null;
  const { element } = list;
  return (line) => {
    const [issue] = issuesOf(element, line);
    return issue ? ruleText(issue.rule, issue.message, issue.values) : null;
  };
};
