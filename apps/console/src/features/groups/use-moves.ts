// Moves a node to another line by dragging, or by keyboard: Space, arrows, Space.
import { useState, type KeyboardEvent } from 'react';
import { useT } from '../../lib/i18n.ts';
import { sameCell, USUAL_WEIGHT, type Board, type Cell, type Change, type Member } from './board.ts';
import { lineName } from './line-name.ts';

interface Lifted {
  member: Member;
  /** Null: the node comes from outside the board. */
  from: Cell | null;
  /** Drop target. */
  over: Cell | null;
}
export interface Moves {
  lifted: Lifted | null;
  lift: (member: Member, from: Cell | null) => void;
  isLifted: (member: Member, from: Cell | null) => boolean;
  /** Whether the keyboard moved the node here, so that it gets focus. */
  isLanded: (member: Member, cell: Cell) => boolean;
  over: (cell: Cell) => void;
  drop: (cell: Cell | null) => void;
  end: () => void;
  onKey: (event: KeyboardEvent) => void;
  nameOf: (cell: Cell) => string;
  /** Text for screen readers. */
  announcement: string;
}

export function useMoves(
  board: Board,
  lines: readonly string[],
  onChanges: (changes: readonly Change[]) => void,
): Moves {
  const t = useT();
  const [lifted, setLifted] = useState<Lifted | null>(null);
  const [landed, setLanded] = useState<(Cell & Pick<Member, 'nodeUID'>) | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const nameOf = ({ groupID, line }: Cell) =>
    `${board.groups.find(({ id }) => id === groupID)?.name ?? ''}, ${lineName(line)}`;

  function drop(to: Cell | null) {
    setLifted(null);
    if (!lifted || !to || (lifted.from && sameCell(lifted.from, to))) return;
    const { nodeUID, weight } = lifted.member;
    const come: Change = { ...to, nodeUID, weight: lifted.from ? weight : USUAL_WEIGHT };
    onChanges(lifted.from ? [{ ...lifted.from, nodeUID, weight: null }, come] : [come]);
    setAnnouncement(t('groups.dropped', { name: lifted.member.name, place: nameOf(to) }));
  }

  function carry([down, right]: readonly [number, number], { from, over }: Lifted): Cell {
    const at = over ?? from;
    const row = at ? lines.indexOf(at.line) + down : 0;
    const column = at ? board.groups.findIndex(({ id }) => id === at.groupID) + right : 0;
    return {
      line: within(lines, row) ?? 'default',
      groupID: within(board.groups, column)?.id ?? '',
    };
  }

  function onKey(event: KeyboardEvent) {
    if (!lifted) return;
    const step = steps[event.key];
    const ends = [' ', 'Enter', 'Escape'].includes(event.key);
    if (!step && !ends) return;
    event.preventDefault();
    event.stopPropagation();
    if (step) {
      const over = carry(step, lifted);
      setLifted({ ...lifted, over });
      requestAnimationFrame(() => document.querySelector('td[data-over]')?.scrollIntoView(inReach));
      setAnnouncement(nameOf(over));
    } else if (event.key === 'Escape') {
      setLifted(null);
      setAnnouncement(t('groups.putBack'));
    } else {
      drop(lifted.over);
      if (lifted.over) setLanded({ ...lifted.over, nodeUID: lifted.member.nodeUID });
    }
  }

  return {
    lifted,
    lift(member, from) {
      setLanded(null);
      setLifted({ member, from, over: from });
      setAnnouncement(t('groups.lifted', { name: member.name }));
    },
    isLifted: (member, from) =>
      lifted?.member.nodeUID === member.nodeUID &&
      (from === null || lifted.from === null ? from === lifted.from : sameCell(lifted.from, from)),
    isLanded: ({ nodeUID }, cell) => landed?.nodeUID === nodeUID && sameCell(landed, cell),
    over: (cell) => lifted && !(lifted.over && sameCell(lifted.over, cell)) && setLifted({ ...lifted, over: cell }),
    drop,
    end: () => setLifted(null),
    onKey,
    nameOf,
    announcement,
  };
}

const inReach: ScrollIntoViewOptions = { block: 'nearest', inline: 'nearest' };
const within = <Item>(list: readonly Item[], index: number) => list[Math.min(Math.max(index, 0), list.length - 1)];

const steps: Record<string, readonly [number, number] | undefined> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};
