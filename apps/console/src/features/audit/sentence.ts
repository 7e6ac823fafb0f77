// Formats an action of the operation log as a sentence: "Added 3 error pages to Glow Select". A phrase of `audit.calls`
// or `audit.verbs` is split at its placeholders and filled. Names are never parsed as phrases.
import { SWITCH_FIELDS } from '@edgeloom/contract/audit/audit.ts';
import type { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { count as formatCount } from '../../lib/format.ts';
import { rawPhrase, t, tMaybe } from '../../lib/i18n.ts';

export type LoggedAction = Received<typeof audit.search>['data'][number];
type Target = LoggedAction['targets'][number];
type Item = Target['items'][number];

export interface Piece {
  text: string;
  /** The object that the text names. */
  named?: { kind: string; item: Item };
}

export const isFailed = ({ status }: Pick<LoggedAction, 'status'>) => status >= 400;
export const sentenceText = (row: LoggedAction) =>
  sentenceOf(row)
    .map(({ text }) => text)
    .join('');

export function sentenceOf(row: LoggedAction): Piece[] {
  const phrase = inTense(phraseOf(row) ?? rawPhrase('audit.unknownCall') ?? '', isFailed(row));
  const namesAtEnd: Piece[] = [];
  const pieces = fill(phrase, (name) => {
    const target = name === 'objects' ? mainOf(row) : row.targets.find(({ kind }) => kind === name);
    if (target) {
      if (namesAtEnd.length === 0) namesAtEnd.push(...colonAndNames(target));
      return counted(row, target, name === 'objects');
    }
    if (name === 'in') return row.within ? named(row.within.kind, row.within, false) : [];
    if (name === 'toSites') return toSites(row);
    return [{ text: valueOf(row, name) }];
  });
  return withSpaces([...pieces, ...namesAtEnd]);
}

/** `[Added|add]`: the form for a successful and for a failed action. */
function inTense(phrase: string, failed: boolean) {
  const chosen = phrase.replace(/\[([^|\]]*)\|([^\]]*)\]/g, failed ? '$2' : '$1');
  return failed ? (rawPhrase('audit.tried') ?? '').replace('{{what}}', () => chosen) : chosen;
}

function phraseOf({ operation, values, within }: LoggedAction): string | null {
  const variant = variantOf(values);
  const own = `audit.calls.${operation}`;
  const special = (variant !== null && rawPhrase(`${own}.${variant}`)) || rawPhrase(`${own}.other`) || rawPhrase(own);
  if (special) return special;
  const verb = verbOf(operation.split('.')[1] ?? '', variant);
  return rawPhrase(`audit.verbs.${verb}${within ? 'In' : ''}`);
}

const verbs: ReadonlySet<string> = new Set(['create', 'update', 'remove']);

function verbOf(name: string, variant: string | null) {
  if (name !== 'status' && name !== 'enable') return verbs.has(name) ? name : '';
  return variant === 'on' || variant === 'off' ? variant : 'switch';
}

/** The action of the call, or the state that it set. */
function variantOf({ action, status, off, ...values }: LoggedAction['values']) {
  if (typeof action === 'string') return action;
  if (typeof status === 'string') return status;
  if (values['preview'] === true) return 'preview';
  const on = SWITCH_FIELDS.map((name) => values[name]).find((value) => value !== undefined);
  const isOn = typeof off === 'boolean' ? !off : on;
  return typeof isOn === 'boolean' ? (isOn ? 'on' : 'off') : null;
}

/** The target that the call is about. */
const mainOf = ({ kind, targets }: LoggedAction): Target =>
  targets.find((one) => one.kind === kind) ?? { kind, count: 0, items: [] };

const nounOf = (kind: string, count: number, feature = kind) =>
  tMaybe(`audit.nouns.${feature}`, { count }) ??
  tMaybe(`audit.nouns.${kind}`, { count }) ??
  tMaybe(`${kind}.noun`, { count }) ??
  kind;

/** "2 domains", "domain a.example.com". */
function counted({ operation }: LoggedAction, target: Target, withNoun: boolean): Piece[] {
  const { kind, count, items } = target;
  const feature = withNoun ? operation.split('.')[0] : kind;
  const [first] = items;
  if (count === 1 && first) return named(kind, first, withNoun, feature);
  const noun = nounOf(kind, count === 0 ? 2 : count, feature);
  if (count === 0) return [{ text: noun }];
  const own = tMaybe(`${kind}.countedNoun`, { count, number: formatCount(count) });
  if (own !== null) return [{ text: own }];
  return [{ text: t(`audit.counted.${measureWords[kind] ?? 'thing'}`, { number: formatCount(count), noun }) }];
}

/** Chinese measure words. */
const measureWords: Readonly<Record<string, 'rule' | 'sheet' | 'record'>> = {
  antiHeaders: 'rule',
  antiReferers: 'rule',
  cacheRules: 'rule',
  firewallGeos: 'rule',
  userAgentRules: 'rule',
  certificates: 'sheet',
  frequencies: 'rule',
  limitReqs: 'rule',
  limitConns: 'rule',
  siteAntiCcs: 'rule',
  portRules: 'rule',
  redirects: 'rule',
  virtualRecords: 'record',
};

/** Kinds whose names need no noun before them. */
const kindsWithoutNoun: ReadonlySet<string> = new Set(['sites', 'domains', 'accounts']);

function named(kind: string, item: Item, withNoun: boolean, feature = kind): Piece[] {
  const noun = nounOf(kind, 1, feature);
  if (item.name === '') return [{ text: t(/^[aeiou]/i.test(noun) ? 'audit.goneAn' : 'audit.gone', { noun }) }];
  const name: Piece = { text: item.name, named: { kind, item } };
  return !withNoun && kindsWithoutNoun.has(kind) ? [name] : [{ text: noun }, name];
}

/** The names of several objects, which follow the sentence. */
function colonAndNames(target: Target): Piece[] {
  const names = target.count < 2 ? [] : namesOf(target, NAMES_IN_SENTENCE);
  return names.length === 0 ? [] : [{ text: t('common.colon') }, ...names];
}

/** The target sites of a copy. A failed call may have none. */
function toSites({ targets }: LoggedAction): Piece[] {
  const sites = targets.find(({ kind }) => kind === 'sites');
  const names = sites ? namesOf(sites, NAMES_IN_SENTENCE) : [];
  return names.length === 0 ? [{ text: t('audit.otherSites') }] : names;
}

export const NAMES_IN_SENTENCE = 3;

/** "a, b, c, and 2 more". */
export function namesOf({ kind, count, items }: Target, maxNames: number): Piece[] {
  const shown = items.filter(({ name }) => name !== '').slice(0, maxNames);
  const names = shown.flatMap((item, i): Piece[] => [
    ...(i === 0 ? [] : [{ text: t('common.comma') }]),
    { text: item.name, named: { kind, item } },
  ]);
  const rest = count - shown.length;
  if (rest <= 0 || shown.length === 0) return names;
  return fill(rawPhrase('audit.others') ?? '', (name) => (name === 'names' ? names : [{ text: formatCount(rest) }]));
}

function valueOf(row: LoggedAction, name: string): string {
  if (name === 'method') return row.method;
  if (name === 'url') return row.url;
  if (name === 'count') return formatCount(mainOf(row).count);
  const value = String(row.values[name] ?? '');
  const feature = row.operation.split('.')[0] ?? '';
  return (
    tMaybe(`audit.choices.${name}.${value}`) ??
    tMaybe(`${feature}.choices.${name}.${value}`) ??
    (name === 'line' ? tMaybe(`groups.lineNames.${value}`) : null) ??
    value
  );
}

function fill(phrase: string, piecesOf: (name: string) => Piece[]): Piece[] {
  return phrase
    .split(/\{\{(\w+)\}\}/)
    .flatMap((part, i) => (i % 2 === 1 ? piecesOf(part) : part ? [{ text: part }] : []));
}

const Han = /\p{Script=Han}/u;
const Mark = /[\s\p{P}]/u;

/** Adds spaces around names, and between Han and other letters: Chinese phrases have none. */
function withSpaces(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece, i): Piece[] => {
    const before = pieces[i - 1];
    const [last, first] = [[...(before?.text ?? '')].at(-1), [...piece.text][0]];
    if (!before || last === undefined || first === undefined) return [piece];
    const touchesMark = (Mark.test(last) && !before.named) || (Mark.test(first) && !piece.named);
    const needsSpace = Boolean(before.named ?? piece.named) || Han.test(last) !== Han.test(first);
    return touchesMark || !needsSpace ? [piece] : [{ text: ' ' }, piece];
  });
}
