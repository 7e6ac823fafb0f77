// The board with unpublished changes applied.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import type { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import * as z from 'zod';
import type { T } from '../../lib/i18n.ts';
import { statusTone, type Tone } from '../../theme/tokens.ts';

export type Board = Received<typeof groups.board>;
export type BoardGroup = Board['groups'][number];
export type Member = Board['free'][number];
const Change = z.object({
  groupID: z.string(),
  line: z.string(),
  nodeUID: z.string(),
  /** Null: removed from the line. */
  weight: z.number().nullable(),
});
export type Change = z.output<typeof Change>;
const StoredDraft = z.object({ changes: z.array(Change), added: z.array(z.string()) });
export const isStoredDraft = (stored: unknown): stored is z.output<typeof StoredDraft> =>
  StoredDraft.safeParse(stored).success;

export interface Cell {
  groupID: string;
  line: string;
}

export const USUAL_WEIGHT = 50;
const keyOf = ({ groupID, line, nodeUID }: Change) => `${groupID} ${line} ${nodeUID}`;
export const sameCell = (a: Cell, b: Cell) => a.groupID === b.groupID && a.line === b.line;

/** Adds a change; a change back to the published state is dropped. */
export function withChange(board: Board, changes: readonly Change[], change: Change): Change[] {
  const others = changes.filter((one) => keyOf(one) !== keyOf(change));
  return weightIn(board, change) === change.weight ? others : [...others, change];
}

/** A stored draft without what others have removed or published since. */
export function withoutObsolete(board: Board, changes: readonly Change[]): Change[] {
  const known = everyone(board);
  const groupIDs = new Set(board.groups.map(({ id }) => id));
  return changes.filter(
    (change) => groupIDs.has(change.groupID) && known.has(change.nodeUID) && weightIn(board, change) !== change.weight,
  );
}

/** Changes that restore the weights on this board. */
export const undoOf = (board: Board, changes: readonly Change[]): Change[] =>
  changes.map((change) => ({ ...change, weight: weightIn(board, change) }));

const weightIn = (board: Board, change: Change) =>
  cellOf(board, change).find(({ nodeUID }) => nodeUID === change.nodeUID)?.weight ?? null;

export const cellOf = ({ groups }: Pick<Board, 'groups'>, { groupID, line }: Cell): readonly Member[] =>
  groups.find(({ id }) => id === groupID)?.members.find((one) => one.line === line)?.members ?? [];

/** All nodes that can be on a line, by uid. */
export function everyone({ groups, free }: Board): Map<string, Member> {
  const members = [...groups.flatMap((group) => group.members.flatMap((line) => line.members)), ...free];
  return new Map(members.map((member) => [member.nodeUID, member]));
}

/** A cell with the changes applied. New members have no state yet. */
export function shownIn(board: Board, changes: readonly Change[], cell: Cell): Member[] {
  const here = changes.filter((change) => sameCell(change, cell));
  const weightOf = new Map(here.map(({ nodeUID, weight }) => [nodeUID, weight]));
  const stands = cellOf(board, cell);
  const stay = stands.flatMap((member) => {
    const weight = weightOf.get(member.nodeUID);
    return weight === null ? [] : [weight === undefined ? member : { ...member, weight }];
  });
  const known = everyone(board);
  const come = here.flatMap(({ nodeUID, weight }) => {
    const member = known.get(nodeUID);
    if (weight === null || !member || stands.some((one) => one.nodeUID === nodeUID)) return [];
    return [{ ...member, weight, isAnswered: false, reason: null }];
  });
  return [...stay, ...come];
}

type Offered = Received<typeof dnsSetting.lines>;
/** Parts of the board that some of the operator's DNS providers do not support. */
export function beyondProviders(
  board: Board,
  changes: readonly Change[],
  lines: readonly string[],
  { data, weighting }: Offered,
): { lines: string[]; weighting: 'oneLine' | 'none' | null } {
  // The providers' capabilities are unknown yet.
  if (weighting === null) return { lines: [], weighting: null };
  const offered = new Set(data.filter(({ isOffered }) => isOffered).map(({ line }) => line));
  const used = board.groups.map(({ id: groupID }) =>
    lines
      .map((line) => ({ line, members: shownIn(board, changes, { groupID, line }) }))
      .filter(({ members }) => members.length > 0),
  );
  const isShared = ({ members }: { members: readonly Member[] }) =>
    new Set(members.map(({ weight }) => weight).filter((weight) => weight > 0)).size > 1;
  const isBeyond = used.some((cells) => cells.some(isShared) && (weighting === 'none' || cells.length > 1));
  return {
    lines: lines.filter((line) => !offered.has(line) && used.some((cells) => cells.some((cell) => cell.line === line))),
    weighting: weighting !== 'eachLine' && isBeyond ? weighting : null,
  };
}

const tones: Record<NonNullable<Member['reason']>, Tone> = {
  uninitialized: 'unknown',
  disabled: 'off',
  draining: 'warn',
  relay: 'off',
  nginx: 'bad',
  away: 'bad',
  parent: 'bad',
  recovering: 'busy',
  monitor: 'bad',
  busy: 'warn',
  zero: 'off',
  standby: 'held',
  noRecord: 'bad',
  beside: 'held',
};
type State = Pick<Member, 'reason' | 'nodeStatus'>;
const troubles: readonly Member['nodeStatus'][] = ['offline', 'rejected', 'natsError', 'reconnecting'];
/** Problem of the node itself, whether or not DNS returns it. */
export const troubleOf = ({ nodeStatus }: Pick<Member, 'nodeStatus'>) =>
  nodeStatus !== null && troubles.includes(nodeStatus) ? nodeStatus : null;

/** An offline node, or one that rejected its configuration, is bad even while DNS returns it. */
export function toneOfMember({ reason, nodeStatus }: State): Tone {
  if (nodeStatus === 'offline' || nodeStatus === 'rejected') return 'bad';
  if (reason !== null) return tones[reason];
  return nodeStatus === null ? 'ok' : statusTone.node[nodeStatus];
}

export function stateOfMember(member: State & Pick<Member, 'isAnswered'>, t: T): string {
  const { reason, nodeStatus, isAnswered } = member;
  const trouble = troubleOf(member);
  const ofNode = trouble === null ? [] : [t(`status.node.${trouble}`)];
  if (reason !== null) return [...ofNode, t(`groups.reasons.${reason}`)].join(' · ');
  if (isAnswered) return [...ofNode, t(trouble === null ? 'groups.answered' : 'groups.stillAnswered')].join(' · ');
  return nodeStatus === null ? '' : t(`status.node.${nodeStatus}`);
}

/** Whether a member is unhealthy. */
export const isUnwell = (members: readonly Member[]) => members.some((member) => toneOfMember(member) === 'bad');

type Standing = BoardGroup['state'] | 'neverAnswered';
const groupTones: Record<Standing, Tone> = {
  ok: 'ok',
  backups: 'warn',
  backupGroup: 'warn',
  forced: 'warn',
  lastGood: 'bad',
  empty: 'off',
  neverAnswered: 'warn',
};
/** Nodes that were just placed, or were out of service since, or have no weight leave a group without any answer. */
export const standingOf = ({ state, nodeCount }: Pick<BoardGroup, 'state' | 'nodeCount'>): Standing =>
  state === 'empty' && nodeCount > 0 ? 'neverAnswered' : state;
export const toneOfGroup = (group: Pick<BoardGroup, 'state' | 'nodeCount'>): Tone => groupTones[standingOf(group)];
