// A call of the audit as a sentence: "Added 3 error pages to Glow Select". A phrase of `audit.calls`, else of `audit.verbs`,
// is split at its placeholders and filled with pieces. Names are never read as a phrase.
import type { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { count as inFigures } from '../../lib/format.ts';
import { rawPhrase, t, tMaybe } from '../../lib/i18n.ts';

export type AuditRow = Received<typeof audit.search>['data'][number];
type Target = AuditRow['targets'][number];
type Item = Target['items'][number];

export interface Piece {
  text: string;
  /** The object that the text names. */
  named?: { kind: string; item: Item };
}

export const isFailed = ({ status }: Pick<AuditRow, 'status'>) => status >= 400;
export const sentenceText = (row: AuditRow) =>
  sentenceOf(row)
    .map(({ text }) => text)
    .join('');

export function sentenceOf(row: AuditRow): Piece[] {
  const phrase = inTense(phraseOf(row) ?? rawPhrase('audit.unknownCall') ?? '', isFailed(row));
  const lists: Piece[] = [];
  const pieces = fill(phrase, (name) => {
    const target = name === 'objects' ? mainOf(row) : row.targets.find(({ kind }) => kind === name);
    if (target) {
      if (lists.length === 0) lists.push(...listOf(target));
      return thing(row, target, name === 'objects');
    }
    if (name === 'in') return row.within ? one(row.within.kind, row.within, false) : [];
    return [{ text: valueOf(row, name) }];
  });
  return spaced([...pieces, ...lists]);
}

/** `[Added|add]`: what was done, and what was tried. */
function inTense(phrase: string, failed: boolean) {
  const chosen = phrase.replace(/\[([^|\]]*)\|([^\]]*)\]/g, failed ? '$2' : '$1');
  return failed ? (rawPhrase('audit.tried') ?? '').replace('{{what}}', () => chosen) : chosen;
}

function phraseOf({ operation, values, within }: AuditRow): string | null {
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
function variantOf({ action, status, off, ...values }: AuditRow['values']) {
  if (typeof action === 'string') return action;
  if (typeof status === 'string') return status;
  if (values['preview'] === true) return 'preview';
  const on = ['enabled', 'enable', 'assigned', 'forceSSL']
    .map((name) => values[name])
    .find((value) => value !== undefined);
  const isOn = typeof off === 'boolean' ? !off : on;
  return typeof isOn === 'boolean' ? (isOn ? 'on' : 'off') : null;
}

/** The target that the call is about. */
const mainOf = ({ kind, targets }: AuditRow): Target =>
  targets.find((one) => one.kind === kind) ?? { kind, count: 0, items: [] };

const nounOf = (kind: string, count: number, feature = kind) =>
  tMaybe(`audit.nouns.${feature}`, { count }) ??
  tMaybe(`audit.nouns.${kind}`, { count }) ??
  tMaybe(`${kind}.noun`, { count }) ??
  kind;

/** "2 domains", "domain a.example.com". */
function thing({ operation }: AuditRow, target: Target, withNoun: boolean): Piece[] {
  const { kind, count, items } = target;
  const feature = withNoun ? operation.split('.')[0] : kind;
  const [first] = items;
  if (count === 1 && first) return one(kind, first, withNoun, feature);
  const noun = nounOf(kind, count === 0 ? 2 : count, feature);
  if (count === 0) return [{ text: noun }];
  const own = tMaybe(`${kind}.countedNoun`, { count, number: inFigures(count) });
  if (own !== null) return [{ text: own }];
  return [{ text: t(`audit.counted.${measures[kind] ?? 'thing'}`, { number: inFigures(count), noun }) }];
}

/** How Chinese counts them. */
const measures: Readonly<Record<string, 'rule' | 'sheet' | 'record'>> = {
  antiHeaders: 'rule',
  antiReferers: 'rule',
  cacheRules: 'rule',
  certificates: 'sheet',
  portRules: 'rule',
  redirects: 'rule',
  virtualRecords: 'record',
};

/** Kinds that are known by their names alone. */
const bare: ReadonlySet<string> = new Set(['sites', 'domains', 'accounts']);

function one(kind: string, item: Item, withNoun: boolean, feature = kind): Piece[] {
  const noun = nounOf(kind, 1, feature);
  if (item.name === '') return [{ text: t(/^[aeiou]/i.test(noun) ? 'audit.goneAn' : 'audit.gone', { noun }) }];
  const name: Piece = { text: item.name, named: { kind, item } };
  return !withNoun && bare.has(kind) ? [name] : [{ text: noun }, name];
}

/** The names of several, after the sentence. */
function listOf({ kind, count, items }: Target): Piece[] {
  const names = items.filter(({ name }) => name !== '');
  if (count < 2 || names.length === 0) return [];
  const named = names.flatMap((item, i): Piece[] => [
    ...(i === 0 ? [] : [{ text: t('common.comma') }]),
    { text: item.name, named: { kind, item } },
  ]);
  const rest = count - names.length;
  const all =
    rest > 0
      ? fill(rawPhrase('audit.others') ?? '', (name) => (name === 'names' ? named : [{ text: inFigures(rest) }]))
      : named;
  return [{ text: t('common.colon') }, ...all];
}

function valueOf(row: AuditRow, name: string): string {
  if (name === 'method') return row.method;
  if (name === 'url') return row.url;
  if (name === 'count') return inFigures(mainOf(row).count);
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

/** Chinese phrases have no spaces: one stands around a name, and between Han and other letters. */
function spaced(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece, i): Piece[] => {
    const before = pieces[i - 1];
    const [last, first] = [[...(before?.text ?? '')].at(-1), [...piece.text][0]];
    if (!before || last === undefined || first === undefined) return [piece];
    const meetsMark = (Mark.test(last) && !before.named) || (Mark.test(first) && !piece.named);
    const isApart = Boolean(before.named ?? piece.named) || Han.test(last) !== Han.test(first);
    return meetsMark || !isApart ? [piece] : [{ text: ' ' }, piece];
  });
}
