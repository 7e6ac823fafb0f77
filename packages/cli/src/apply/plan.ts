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
  /** Compared with the site again before `send`, because `changes` shortens values. */
  difference: unknown;
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
/** Characters that are shown before the first different one. */
const CONTEXT = 20;

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
  detailsOf: (row: Wanted | Current) => string[],
): PlannedChange[] => [
  ...removed.map((row): PlannedChange => ({ kind: 'remove', subject: subjectOf(row), details: detailsOf(row) })),
  ...changed.map(({ wanted, fields }): PlannedChange => ({
    kind: 'change',
    subject: subjectOf(wanted),
    details: fields.map(fieldLine),
  })),
  ...added.map((row): PlannedChange => ({ kind: 'add', subject: subjectOf(row), details: detailsOf(row) })),
];

export function fieldLine({ field, from, to }: FieldChange): string {
  const [before, after] = [textOf(from), textOf(to)];
  const start = Math.max(0, firstDifference(before, after) - CONTEXT);
  return `${field}: ${shorten(before, start)} → ${shorten(after, start)}`;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Fields of stored objects that no file has. */
const OWN_FIELDS = ['id', 'createdAt', 'updatedAt'];

/** The fields of an object, without those that the subject has. */
export const fieldLines = (row: object, hidden: readonly string[]): string[] =>
  Object.entries(row)
    .filter(([field, value]) => ![...hidden, ...OWN_FIELDS].includes(field) && value !== undefined)
    .map(([field, value]) => `${field}: ${shown(value)}`);

const shown = (value: unknown) => shorten(textOf(value), 0);
const textOf = (value: unknown) => printable(JSON.stringify(value) ?? 'none');

/** A long text, from a character on if it would not fit otherwise. */
function shorten(text: string, from: number): string {
  if (text.length <= MAX_VALUE) return text;
  const start = from + CONTEXT < MAX_VALUE ? 0 : from;
  const end = start + MAX_VALUE;
  return `${start > 0 ? '…' : ''}${text.slice(start, end).toWellFormed()}${end < text.length ? '…' : ''} (${text.length} characters)`;
}
