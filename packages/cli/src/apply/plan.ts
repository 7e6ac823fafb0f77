import { printable } from '../terminal.ts';
import type { FieldChange, ListDifference } from './difference.ts';

export interface PlannedChange {
  kind: 'add' | 'change' | 'remove';
  subject: string;
  /** Lines below the subject. */
  details: string[];
}

/** The changes of one section of the file. */
export interface PlannedSection {
  title: string;
  changes: PlannedChange[];
  /** Lines about differences that stay. */
  notes?: readonly string[];
  /** Returns lines to print. */
  send: () => Promise<readonly string[] | void>;
  /** Calls after those of all other sections. */
  deferred?: Pick<PlannedSection, 'title' | 'send'>;
}

const signs = { add: '+', change: '~', remove: '-' } as const;
/** A page of HTML does not fit into a line. */
const MAX_VALUE = 80;

export function planLines(sections: readonly PlannedSection[]): string[] {
  const changed = sections.filter(({ changes }) => changes.length > 0);
  const notes = sections.flatMap((section) => section.notes ?? []);
  if (changed.length === 0)
    return notes.length === 0 ? ['No changes: the site is as the file says.'] : [...notes, 'No changes.'];
  const kinds = changed.flatMap(({ changes }) => changes.map(({ kind }) => kind));
  const count = (wanted: PlannedChange['kind']) => kinds.filter((kind) => kind === wanted).length;
  return [
    ...changed.flatMap(({ title, changes }) => [
      title,
      ...changes.flatMap(({ kind, subject, details }) => [
        `  ${signs[kind]} ${subject}`,
        ...details.map((line) => `      ${line}`),
      ]),
    ]),
    ...notes,
    `Plan: ${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove.`,
  ];
}

export const planned = <Wanted extends object, Current extends object>(
  { added, changed, removed }: ListDifference<Wanted, Current>,
  subjectOf: (row: Wanted | Current) => string,
  detailsOf: (row: Wanted) => string[],
): PlannedChange[] => [
  ...removed.map((row): PlannedChange => ({ kind: 'remove', subject: subjectOf(row), details: [] })),
  ...changed.map(({ wanted, fields }): PlannedChange => ({
    kind: 'change',
    subject: subjectOf(wanted),
    details: fields.map(fieldLine),
  })),
  ...added.map((row): PlannedChange => ({ kind: 'add', subject: subjectOf(row), details: detailsOf(row) })),
];

const fieldLine = ({ field, from, to }: FieldChange) => `${field}: ${shown(from)} → ${shown(to)}`;

/** The fields of a new object, without those that the subject has. */
export const fieldLines = (row: object, hidden: readonly string[]): string[] =>
  Object.entries(row)
    .filter(([field, value]) => !hidden.includes(field) && value !== undefined)
    .map(([field, value]) => `${field}: ${shown(value)}`);

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'none');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}… (${text.length} characters)` : text;
}
