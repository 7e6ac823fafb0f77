import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { issuesOf, bare } from '../../lib/schema.ts';
import { ruleText } from '../../lib/errors.ts';
import * as z from 'zod';
import { useField } from '../resource-form/form-state.ts';
import { LinesInput } from './lines-input.tsx';
import { linesOf, verdictsOf, wholeLinesOf, withRefused, type Judge } from './lines.ts';

interface LinesFieldProps {
  name: string;
  /** Defaults to the schema of the list's entries. */
  judge?: Judge;
  placeholder?: string;
  rows?: number;
  /** Set when entries may contain commas. */
  whole?: boolean;
  /** Error message for a repeated line. */
  twice?: string;
}

/** A list with one entry per line and an error per line. */
export function LinesField({ name, judge, placeholder, rows, whole = false, twice }: LinesFieldProps) {
  const split = whole ? wholeLinesOf : linesOf;
  const t = useT();
  const { accepted, value, set, schema, inner, input } = useField(name);
  const given = Array.isArray(value) ? value.map(String) : [];
  // Keep the text as typed, because the parsed list drops empty lines.
  const [text, setText] = useState(given.join('\n'));
  const shown = split(text).join('\n') === given.join('\n') ? text : given.join('\n');
  if (!accepted) return null;
  const lines = split(shown);
  const faults = verdictsOf(lines, judge ?? judgeOf(schema), twice ?? t('common.form.twice'));
  return (
    <LinesInput
      input={input}
      text={shown}
      count={lines.length}
      verdicts={withRefused(lines, faults, inner)}
      placeholder={placeholder}
      {...(rows !== undefined && { rows })}
      onChange={(typed) => {
        setText(typed);
        set(split(typed));
      }}
    />
  );
}

const judgeOf = (schema: unknown): Judge => {
  const list = bare(schema);
  if (!(list instanceof z.ZodArray)) return () => null;
  const { element } = list;
  return (line) => {
    const [issue] = issuesOf(element, line);
    return issue ? ruleText(issue.rule, issue.message, issue.values) : null;
  };
};
