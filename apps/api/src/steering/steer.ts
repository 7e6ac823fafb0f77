// Computes the DNS records of each group and line. Pure: from groups, members, node health and time.
import { DEFAULT_LINE, type GroupStanding, type OutReason } from '@edgeloom/contract/groups/groups.ts';
import type { WantedSet } from '../dns-state/sets.ts';
import type { NodeFacts, NodeHealth } from './node-health.ts';

export interface VirtualRecordFacts {
  cname: string | null;
  ip: string | null;
  nodeId: string | null;
}
export interface VirtualNodeFacts {
  id: string;
  name: string;
  switchingInterval: number;
  /** Enabled records, in order of creation. */
  records: readonly VirtualRecordFacts[];
}
export interface MemberFacts {
  line: string;
  nodeId: string | null;
  virtualNodeId: string | null;
  weight: number;
}
export interface GroupFacts {
  id: string;
  zoneId: string;
  clientId: string;
  name: string;
  dnsLabel: string;
  backupGroupId: string | null;
  forcedAt: Date | null;
  members: readonly MemberFacts[];
  /** The last answers. */
  last: readonly WantedSet[];
}
export interface World {
  groups: ReadonlyMap<string, GroupFacts>;
  nodes: ReadonlyMap<string, NodeFacts>;
  standings: ReadonlyMap<string, NodeHealth>;
  virtualNodes: ReadonlyMap<string, VirtualNodeFacts>;
}

export interface Answer {
  value: string;
  weight: number;
  /** Null: a former answer whose node is no longer known. */
  nodeUID: string | null;
  name: string;
}
export interface Outcome {
  nodeUID: string;
  name: string;
  role: 'main' | 'backup';
  weight: number;
  /** Its addresses, whether or not they are answered. */
  addresses: string[];
  isAnswered: boolean;
  reason: OutReason | null;
  since: Date | null;
}
export interface Answered {
  groupId: string;
  answers: Answer[];
}
export interface Steered {
  state: GroupStanding;
  /** By line. Missing lines use the default line's answer. */
  answered: Map<string, Answered>;
  outcomes: Map<string, Outcome[]>;
  sets: WantedSet[];
}

const TTL_SECONDS = 60;
/** Nodes that disappeared within this time of each other may be lost to our view only. */
const LOST_TOGETHER_MS = 300_000;
/** At most this share of a line's healthy nodes is removed for load, or the others would follow. */
const BUSY_AT_MOST = 0.5;
/**
 * At most this share of a line's main nodes is removed by monitors, whose own network may have failed. Further ones are
 * removed only for backups in which the monitors find no error.
 */
const PAUSED_AT_MOST = 0.5;

interface LineResult {
  answers: Answer[];
  outcomes: Outcome[];
  usesBackups: boolean;
}

export function steer(world: World, groupId: string, now: Date): Steered | null {
  const group = world.groups.get(groupId);
  if (!group) return null;
  const lines = linesOf(world, group, now);
  const outcomes = new Map(lines.entries().map(([line, { outcomes: found }]) => [line, found]));
  const own = answeredBy(group.id, lines);
  const backup = world.groups.get(group.backupGroupId ?? '');
  const theirs = backup ? answeredBy(backup.id, linesOf(world, backup, now)) : new Map<string, Answered>();

  if (group.forcedAt !== null && theirs.has(DEFAULT_LINE)) return steered('forced', theirs);
  if (own.has(DEFAULT_LINE)) {
    const usesBackups = lines.values().some((line) => line.usesBackups);
    return steered(usesBackups ? 'backups' : 'ok', own);
  }
  if (theirs.has(DEFAULT_LINE)) return steered('backupGroup', new Map([...theirs, ...own]));
  // An empty answer would take all sites of the group offline. The last answer may serve some.
  const last = lastAnswers(group);
  const nothing = last.length === 0 && own.size === 0;
  if (last.length > 0)
    own.set(DEFAULT_LINE, { groupId: group.id, answers: withKnownNames(last, outcomes.get(DEFAULT_LINE)) });
  return steered(nothing ? 'empty' : 'lastGood', own);

  function steered(state: GroupStanding, answered: Map<string, Answered>): Steered {
    return { state, answered, outcomes, sets: [...answered].flatMap(([line, { answers }]) => setsOf(line, answers)) };
  }
}

/** The answer for a visitor of the line: its own, or the default. */
export function answerFor(result: Steered, line: string): { line: string; answered: Answered | null } {
  const own = result.answered.get(line);
  return own ? { line, answered: own } : { line: DEFAULT_LINE, answered: result.answered.get(DEFAULT_LINE) ?? null };
}

function linesOf(world: World, { members, zoneId }: GroupFacts, now: Date): Map<string, LineResult> {
  // A node moved to another zone serves other sites.
  const here = members.filter(({ nodeId }) => nodeId === null || world.nodes.get(nodeId)?.zoneId === zoneId);
  const byLine = Map.groupBy(here, ({ line }) => line);
  return new Map([...byLine].map(([line, of]) => [line, lineOf(world, of, now)]));
}

const answeredBy = (groupId: string, lines: ReadonlyMap<string, LineResult>): Map<string, Answered> =>
  new Map(
    [...lines]
      .filter(([, { answers }]) => answers.length > 0)
      .map(([line, { answers }]) => [line, { groupId, answers }]),
  );

interface Candidate extends Outcome {
  isVirtual: boolean;
  isAlias: boolean;
  isBusy: boolean;
  /** Since when its monitors find that it fails. Null: they do not, or it always stays in DNS. */
  failingSince: Date | null;
  /** Used share of the line's bandwidth. */
  load: number;
}

function lineOf(world: World, members: readonly MemberFacts[], now: Date): LineResult {
  const all = members
    .flatMap((member) => candidateOf(world, member, now) ?? [])
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const well = all.filter(({ reason }) => reason === null);
  const allMains = well.filter(({ role, isVirtual }) => role === 'main' && !isVirtual);
  const backups = well.filter(({ role }) => role === 'backup').toSorted((a, b) => b.weight - a.weight);
  const [failingBackups, workingBackups] = [backups.filter(isFailing), backups.filter((one) => !isFailing(one))];
  // A backup replaces each missing node. Where a line has backups only, they are its nodes.
  const expected = all.filter(({ role, isVirtual, weight }) => role === 'main' && !isVirtual && weight > 0).length;
  // The others stand in for main nodes that are out already.
  const replacements = Math.max(0, workingBackups.length - (expected - allMains.length));
  const pausedMains = pausedOf(allMains, replacements);
  const mains = allMains.filter((one) => !pausedMains.includes(one));
  const virtual = well.filter(({ isVirtual, isAlias }) => isVirtual && !isAlias);
  const aliases = well.filter(({ isAlias }) => isAlias);

  const tooBusy = mains
    .filter(({ isBusy }) => isBusy)
    .toSorted((a, b) => b.load - a.load)
    .slice(0, Math.max(0, Math.floor(allMains.length * BUSY_AT_MOST) - pausedMains.length));
  const working = mains.filter((main) => !tooBusy.includes(main));
  const hasOthers = expected > 0 || virtual.length > 0;
  const steppingIn = workingBackups.slice(0, expected - working.length);
  const lacking = Math.max(
    0,
    Math.ceil(expected * PAUSED_AT_MOST) - working.length - virtual.length - steppingIn.length,
  );
  const stepping = hasOthers
    ? [...steppingIn, ...failingBackups.slice(0, lacking)]
    : backups.filter((one) => !pausedOf(backups).includes(one));

  const chosen = [...working, ...virtual, ...stepping];
  const alias = chosen.length === 0 ? aliases.toSorted((a, b) => b.weight - a.weight).slice(0, 1) : [];
  const answering = new Set<Candidate>([...chosen, ...alias]);
  // A backup in error does not stand by.
  const isPaused = (one: Candidate) => pausedMains.includes(one) || (one.role === 'backup' && isFailing(one));
  for (const one of all) {
    one.isAnswered = answering.has(one);
    if (one.isAnswered || one.reason !== null) continue;
    one.reason = one.isAlias ? 'beside' : isPaused(one) ? 'monitor' : tooBusy.includes(one) ? 'busy' : 'standby';
    if (one.reason === 'monitor') one.since = one.failingSince;
  }
  return {
    answers: merged([...answering]),
    outcomes: all.map(({ nodeUID, name, role, weight, addresses, isAnswered, reason, since }) => ({
      nodeUID,
      name,
      role,
      weight,
      addresses,
      isAnswered,
      reason,
      since,
    })),
    usesBackups: hasOthers && stepping.length > 0,
  };
}

const isFailing = ({ failingSince }: Candidate) => failingSince !== null;

/** Nodes that leave the line because of their monitors, those first that have failed longest. */
function pausedOf(nodes: readonly Candidate[], replacements = 0): Candidate[] {
  const since = ({ failingSince }: Candidate) => failingSince?.getTime() ?? 0;
  return nodes
    .filter(isFailing)
    .toSorted((a, b) => since(a) - since(b))
    .slice(0, Math.max(Math.floor(nodes.length * PAUSED_AT_MOST), replacements));
}

function candidateOf(world: World, { nodeId, virtualNodeId, weight }: MemberFacts, now: Date): Candidate | null {
  const zero = weight === 0 ? 'zero' : null;
  const node = world.nodes.get(nodeId ?? '');
  if (node) {
    const standing = world.standings.get(node.id);
    return {
      nodeUID: `n-${node.id}`,
      name: node.name,
      role: node.role === 'backup' ? 'backup' : 'main',
      weight,
      addresses: [node.ip],
      isAnswered: false,
      reason: standing?.isIn === true ? zero : (standing?.reason ?? 'uninitialized'),
      since: standing?.isIn === false ? standing.since : null,
      isVirtual: false,
      isAlias: false,
      isBusy: standing?.isBusy ?? false,
      failingSince: standing?.monitorStatus === 'error' && !node.isAlwaysInDns ? standing.monitorSince : null,
      load: node.bandwidthMbps === 0 ? 0 : (node.sent ?? 0) / node.bandwidthMbps,
    };
  }
  const virtual = world.virtualNodes.get(virtualNodeId ?? '');
  if (!virtual) return null;
  const { addresses, isAlias } = recordsOf(world, virtual, now);
  return {
    nodeUID: `v-${virtual.id}`,
    name: virtual.name,
    role: 'main',
    weight,
    addresses,
    isAnswered: false,
    reason: addresses.length === 0 ? 'noRecord' : zero,
    since: null,
    isVirtual: true,
    isAlias,
    isBusy: false,
    failingSince: null,
    load: 0,
  };
}

/** With an interval, one record in rotation. Otherwise all addresses, or the first name. */
function recordsOf(
  world: World,
  { records, switchingInterval }: VirtualNodeFacts,
  now: Date,
): { addresses: string[]; isAlias: boolean } {
  const usable = records.flatMap(({ cname, ip, nodeId }) => {
    if (cname !== null) return [{ value: cname, isAlias: true }];
    if (ip !== null) return [{ value: ip, isAlias: false }];
    const node = world.standings.get(nodeId ?? '')?.isIn ? world.nodes.get(nodeId ?? '') : undefined;
    return node ? [{ value: node.ip, isAlias: false }] : [];
  });
  if (switchingInterval > 0) {
    const turn = Math.floor(now.getTime() / 1000 / switchingInterval);
    const active = usable[turn % usable.length];
    return { addresses: active ? [active.value] : [], isAlias: active?.isAlias ?? false };
  }
  const addresses = usable.filter(({ isAlias }) => !isAlias).map(({ value }) => value);
  if (addresses.length > 0) return { addresses: [...new Set(addresses)], isAlias: false };
  return { addresses: usable.slice(0, 1).map(({ value }) => value), isAlias: usable.length > 0 };
}

/** A duplicate address is answered once with the sum of its weights. */
function merged(candidates: readonly Candidate[]): Answer[] {
  const byValue = new Map<string, Answer>();
  for (const { addresses, weight, nodeUID, name } of candidates)
    for (const value of addresses) {
      const known = byValue.get(value);
      if (known) known.weight = Math.min(known.weight + weight, 100);
      else byValue.set(value, { value, weight, nodeUID, name });
    }
  return [...byValue.values()];
}

function setsOf(line: string, answers: readonly Answer[]): WantedSet[] {
  const typed = Map.groupBy(answers, ({ value }) => typeOf(value));
  return [...typed].map(([type, of]) => ({
    line,
    type,
    values: of.map(({ value, weight }) => ({ value, weight })),
    ttlSeconds: TTL_SECONDS,
  }));
}
const typeOf = (value: string): WantedSet['type'] =>
  value.includes(':') ? 'AAAA' : /^[0-9.]+$/.test(value) ? 'A' : 'CNAME';

/**
 * If nodes become unreachable one by one, the last one would receive all visitors. So the last answer is kept, unless a
 * node has just recovered.
 */
function withKnownNames(last: readonly Answer[], outcomes: readonly Outcome[] = []): Answer[] {
  if (last.some(({ value }) => typeOf(value) === 'CNAME')) return [...last];
  const unseen = outcomes.filter(({ reason, weight }) => weight > 0 && (reason === 'away' || reason === 'recovering'));
  const lastLost = Math.max(...unseen.map(({ since }) => since?.getTime() ?? 0));
  const lost = unseen.filter(({ since }) => lastLost - (since?.getTime() ?? 0) < LOST_TOGETHER_MS);
  const answers = lost.flatMap(({ addresses, weight, nodeUID, name }) =>
    addresses.map((value) => ({ value, weight, nodeUID, name })),
  );
  return [...new Map([...last, ...answers].map((answer) => [answer.value, answer])).values()];
}

const lastAnswers = ({ last }: GroupFacts): Answer[] =>
  last
    .filter(({ line }) => line === DEFAULT_LINE)
    .flatMap(({ values }) => values.map(({ value, weight }) => ({ value, weight, nodeUID: null, name: '' })));
