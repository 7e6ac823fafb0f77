// The decision trail of a logged request, from what the node wrote and from the row.
import type { LogRow } from '@edgeloom/contract/logs/logs.ts';
import type { TrailStep } from '@edgeloom/contract/logs/trail.ts';
import { MONITOR } from '../../statistics/traffic.ts';

type Unnamed = Omit<TrailStep, 'rule'> & { rule: { kind: string; id: string } | null };
type Row = Pick<LogRow, 'siteName' | 'host' | 'status' | 'cause' | 'rule' | 'cacheStatus' | 'upstream'>;

/** Kinds of rules (modules/simulate/rule-names.ts) that are not named as their plugin at the edge. */
const ruleKinds: ReadonlyMap<string, string> = new Map([
  ['urlRedirect', 'redirect'],
  ['rates', 'rate'],
  ['cache', 'cacheRule'],
  ['zoneLists', 'zoneList'],
]);
/** Causes in the row that are not named as their plugin. */
const causes: ReadonlyMap<string, string> = new Map([['zoneLists', 'blacklist']]);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOTE = /^(\w{1,32}),(\w{1,8}),(\d{0,9}(?:\.\d)?),(.{0,128})$/;
const CLOSED = 444;
/** The edge node's nginx served these from its cache. */
const FROM_CACHE = new Set(['HIT', 'STALE', 'UPDATING', 'REVALIDATED']);
const MAX_NOTES = 32;
/** Results that end no request. */
const decisions: ReadonlyMap<string, Unnamed['decision']> = new Map([
  ['pass', 'passed'],
  ['rule', 'applied'],
  ['white', 'exempted'],
  ['would', 'wouldBlock'],
  ['match', 'wouldAllow'],
]);

/** `written`: microseconds, and notes after "|" (agent/lua/edge/core/trails.lua). Empty: nothing was decided. */
export function trailOf(written: string, row: Row): { trail: Unnamed[]; microseconds: number | null } {
  const [total = '', notes = ''] = written.split('|', 2);
  const steps = notes.split(';', MAX_NOTES).flatMap((note) => stepOf(note) ?? []);
  const isEnded = steps.some(({ status }) => status !== null);
  const trail = [
    step('host', 'passed', { detail: `${row.host} → ${row.siteName}` }),
    ...steps,
    ...(isEnded ? [] : causeOf(row, steps)),
    ...(isEnded ? [] : storeSteps(row)),
  ];
  return { trail, microseconds: total === '' ? null : Number(total) };
}

function step(name: string, decision: Unnamed['decision'], over: Partial<Unnamed> = {}): Unnamed {
  return { step: name, decision, status: null, detail: '', rule: null, microseconds: null, ...over };
}

function stepOf(note: string): Unnamed | null {
  const [, name = '', result = '', took = '', rule = ''] = NOTE.exec(note) ?? [];
  if (name === '') return null;
  const of = { ...ruleOf(name, rule), microseconds: took === '' ? null : Number(took) };
  const decision = decisions.get(result);
  if (decision !== undefined) return step(name, decision, of);
  const status = Number(result);
  return Number.isInteger(status) ? step(name, decisionOf(status), { ...of, status }) : step(name, 'other', of);
}

const decisionOf = (status: number): Unnamed['decision'] => {
  if (status === CLOSED) return 'closed';
  if (status >= 400) return 'refused';
  return status >= 300 ? 'redirected' : 'answered';
};

/** Other rules are words, such as those of challenges: `zone/address`. */
const ruleOf = (name: string, rule: string): Pick<Unnamed, 'rule' | 'detail'> => {
  if (UUID.test(rule)) return { rule: { kind: ruleKinds.get(name) ?? name, id: rule }, detail: '' };
  return { rule: null, detail: rule.replace(/^zone\//, '') };
};

/** Rows of older nodes, and rules that only monitor, have a cause without a note. */
function causeOf({ cause, rule, status }: Row, steps: readonly Unnamed[]): Unnamed[] {
  if (cause === '' || steps.some(({ step: name }) => (causes.get(name) ?? name) === cause)) return [];
  const isMonitored = rule.startsWith(MONITOR);
  return [
    step(cause, isMonitored ? 'passed' : decisionOf(status), {
      ...ruleOf(cause, rule),
      status: isMonitored ? null : status,
    }),
  ];
}

function storeSteps({ cacheStatus, upstream, cause, status }: Row): Unnamed[] {
  // The cause ended the request.
  if (cause !== '' && status >= 300 && cacheStatus === '' && upstream === '') return [];
  return [
    ...(cacheStatus === ''
      ? []
      : [step('store', FROM_CACHE.has(cacheStatus) ? 'served' : 'fetched', { detail: cacheStatus })]),
    ...(upstream === '' ? [] : [step('origin', 'fetched', { detail: upstream })]),
  ];
}
