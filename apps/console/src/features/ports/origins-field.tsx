import { UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { originWord, readOrigin } from '@edgeloom/contract/ports/port-lines.ts';
import { useState } from 'react';
import { linesOf, verdictsOf, withRefused } from '../../components/fields/lines.ts';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';

/** Origins, a line each, as they are written in a line of many forwards. */
export function OriginsField({ name }: { name: string }) {
  const t = useT();
  const { value, set, inner, input } = useField(name);
  const given = Array.isArray(value) ? value.map(lineOf) : [];
  const [text, setText] = useState(given.join('\n'));
  const shown =
    linesOf(text)
      .map((line) => lineOf(meantBy(line)))
      .join('\n') === given.join('\n')
      ? text
      : given.join('\n');
  const lines = linesOf(shown);
  const verdicts = verdictsOf(
    lines,
    (line) => (readOrigin(line) ? null : t('ports.faults.origin')),
    t('common.form.twice'),
  );
  return (
    <LinesInput
      input={input}
      text={shown}
      count={lines.length}
      verdicts={withRefused(lines, verdicts, inner)}
      placeholder={'203.0.113.24:22\n[2001:db8::1]:22*70\nbackup.example.com:22!backup'}
      rows={3}
      onChange={(typed) => {
        setText(typed);
        set(linesOf(typed).map(meantBy));
      }}
    />
  );
}

/** What is no origin stays in the list as it is written, for the schema to refuse. */
const meantBy = (line: string): UpstreamInput | { line: string } => readOrigin(line) ?? { line };
function lineOf(entry: unknown): string {
  const origin = UpstreamInput.safeParse(entry);
  if (origin.success) return originWord(origin.data);
  return typeof entry === 'object' && entry !== null && 'line' in entry ? String(entry.line) : '';
}
