// Lines as rows, groups as columns, nodes in the cells. Moves are a draft until published.
import { Menu } from '@mantine/core';
import { IconPlus, IconWorldSearch } from '@tabler/icons-react';
import type { ReactNode, Ref } from 'react';
import { useT } from '../../lib/i18n.ts';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { cellOf, everyone, isUnwell, sameCell, shownIn, stateOfMember, toneOfMember, USUAL_WEIGHT } from './board.ts';
import type { Board, Cell, Change, Member } from './board.ts';
import { GroupHead } from './group-head.tsx';
import { lineName, lineRegion } from './line-name.ts';
import { NodeChip } from './node-chip.tsx';
import type { Moves } from './use-moves.ts';
import classes from './groups.module.css';

interface LineMatrixProps {
  ref: Ref<HTMLElement>;
  zoneId: string;
  board: Board;
  lines: readonly string[];
  changes: readonly Change[];
  mayWrite: boolean;
  moves: Moves;
  onChanges: (changes: readonly Change[]) => void;
  onAsk: (cell: Cell) => void;
  asked: Cell | null;
  foot: ReactNode;
}

export function LineMatrix(props: LineMatrixProps) {
  const { ref, zoneId, board, lines, changes, mayWrite, moves, onChanges, onAsk, asked, foot } = props;
  const { lifted } = moves;
  const t = useT();
  const cells = (line: string) => board.groups.map(({ id }) => ({ groupID: id, line }));

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
    <section ref={ref} className={classes['scroll']} aria-label={t('groups.title')} tabIndex={0}>
      <p className="hidden-text" aria-live="polite">
        {moves.announcement}
      </p>
      <table className={classes['matrix']}>
        <caption className="hidden-text">{t('groups.title')}</caption>
        <thead>
          <tr>
            <th scope="col" className={classes['corner']}>
              {t('groups.corner')}
            </th>
            {board.groups.map((group) => (
              <th key={group.id} scope="col">
                <GroupHead zoneId={zoneId} group={group} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line}>
              <th scope="row" className={classes['line']}>
                {lineName(line)}
                <small>{lineRegion(line)}</small>
              </th>
              {cells(line).map((cell) => {
                const members = shownIn(board, changes, cell);
                const isOver = lifted?.over != null && sameCell(lifted.over, cell);
                return (
                  <td
                    key={cell.groupID}
                    data-unwell={isUnwell(members) || undefined}
                    data-over={isOver || undefined}
                    data-asked={(asked && sameCell(asked, cell)) || undefined}
                    onDragOver={(event) => {
                      if (!lifted) return;
                      event.preventDefault();
                      moves.over(cell);
                    }}
                    onDrop={(event) => {
                      event.preventDefault();
                      moves.drop(cell);
                    }}
                  >
                    <div className={classes['cell']}>
                      {members.map((member) => (
                        <NodeChip
                          key={member.nodeUID}
                          member={member}
                          isChanged={changes.some((one) => one.nodeUID === member.nodeUID && sameCell(one, cell))}
                          isLifted={moves.isLifted(member, cell)}
                          isLanded={moves.isLanded(member, cell)}
                          mayMove={mayWrite}
                          onWeight={
                            mayWrite ? (weight) => onChanges([{ ...cell, nodeUID: member.nodeUID, weight }]) : null
                          }
                          onTakeOff={
                            mayWrite ? () => onChanges([{ ...cell, nodeUID: member.nodeUID, weight: null }]) : null
                          }
                          onLift={() => moves.lift(member, cell)}
                          onKey={moves.onKey}
                          onDragEnd={moves.end}
                        />
                      ))}
                      {members.length === 0 && (
                        <span className={classes['asDefault']}>
                          {t(line === 'default' ? 'groups.nobody' : 'groups.asDefault')}
                        </span>
                      )}
                      <span className={classes['cellTools']}>
                        {mayWrite && (
                          <Adding
                            board={board}
                            members={members}
                            place={moves.nameOf(cell)}
                            onAdd={(uid) => onChanges([{ ...cell, nodeUID: uid, weight: weightIn(board, cell, uid) }])}
                          />
                        )}
                        <button
                          type="button"
                          className={classes['tool']}
                          aria-label={t('groups.askAt', { place: moves.nameOf(cell) })}
                          onClick={() => onAsk(cell)}
                        >
                          <IconWorldSearch size={14} stroke={1.6} />
                        </button>
                      </span>
                    </div>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
        {foot !== null && (
          <tfoot>
            <tr>
              <td colSpan={board.groups.length + 1}>{foot}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** A node that is moved back keeps its former weight. */
const weightIn = (board: Board, cell: Cell, uid: string) =>
  cellOf(board, cell).find(({ nodeUID }) => nodeUID === uid)?.weight ?? USUAL_WEIGHT;

interface AddingProps {
  board: Board;
  members: readonly Member[];
  place: string;
  onAdd: (uid: string) => void;
}
/** Adds a node by menu, as an alternative to dragging. */
function Adding({ board, members, place, onAdd }: AddingProps) {
  const t = useT();
  const others = [...everyone(board).values()].filter(({ nodeUID }) => !members.some((one) => one.nodeUID === nodeUID));
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <button type="button" className={classes['tool']} aria-label={t('groups.addAt', { place })}>
          <IconPlus size={14} stroke={1.8} />
        </button>
      </Menu.Target>
      <Menu.Dropdown className={classes['choices']}>
        {others.length === 0 && <Menu.Label>{t('groups.nobodyLeft')}</Menu.Label>}
        {others
          .toSorted((a, b) => a.name.localeCompare(b.name))
          .map((member) => (
            <Menu.Item
              key={member.nodeUID}
              leftSection={<StatusMark tone={toneOfMember(member)} label={stateOfMember(member, t)} />}
              onClick={() => onAdd(member.nodeUID)}
            >
              {member.name}
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}
