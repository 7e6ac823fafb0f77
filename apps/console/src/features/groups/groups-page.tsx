import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconRoute } from '@tabler/icons-react';
import { useMemo, useRef, useState } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import { beyondProviders, cellOf, everyone } from './board.ts';
import type { Board, Cell, Change } from './board.ts';
import { AddLine } from './add-line.tsx';
import { GroupForm } from './group-form.tsx';
import classes from './groups.module.css';
import { LineMatrix } from './line-matrix.tsx';
import { inOrder, lineName } from './line-name.ts';
import { NoZone } from './no-zone.tsx';
import { NodeChip } from './node-chip.tsx';
import { ResolutionPanel } from './resolution-panel.tsx';
import { undoPlacements } from './undo-placements.ts';
import { useBoardDraft } from './use-board-draft.ts';
import { useMoves } from './use-moves.ts';
import { useZone } from './use-zone.ts';
import { ZonePick } from './zone-pick.tsx';

/** The matrix of lines (rows) and groups (columns). */
export function GroupsPage() {
  const { zoneId, choices, setZone } = useZone();
  return (
    <Page
      title="groups.title"
      facts={zoneId && <ZonePick choices={choices} value={zoneId} onChange={setZone} />}
      {...(zoneId && { create: <GroupForm zoneId={zoneId} />, creates: groups.create })}
    >
      <Await result={choices.result}>{() => (zoneId ? <OfZone key={zoneId} zoneId={zoneId} /> : <NoZone />)}</Await>
    </Page>
  );
}

function OfZone({ zoneId }: { zoneId: string }) {
  const board = useEndpoint(groups.board, { params: { zoneId } }, { pollMs: 5000 });
  return (
    <Await result={board}>
      {(found) => (found.groups.length === 0 ? <First zoneId={zoneId} /> : <Shown zoneId={zoneId} board={found} />)}
    </Await>
  );
}

function First({ zoneId }: { zoneId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  return (
    <EmptyState
      icon={IconRoute}
      title={t('groups.empty.title')}
      text={t('groups.empty.text')}
      action={
        can(groups.create) && (
          <Button
            leftSection={<IconPlus size={15} stroke={1.8} />}
            onClick={() => overlay(<GroupForm zoneId={zoneId} />, { title: 'groups.create' })}
          >
            {t('groups.create')}
          </Button>
        )
      }
    />
  );
}

function Shown({ zoneId, board }: { zoneId: string; board: Board }) {
  const t = useT();
  const mayWrite = useCan()(groups.place);
  const draft = useBoardDraft(zoneId, board);
  const { changes, added, change } = draft;
  const [asked, setAsked] = useState<Cell | null>(null);
  const place = useAction(groups.place, { refreshes: ['nodes'] });
  const first = board.groups[0];
  const cell = asked ?? (first && { groupID: first.id, line: 'default' });
  const lines = useMemo(
    () => inOrder(['default', ...board.groups.flatMap((group) => group.lines), ...added]),
    [board, added],
  );
  const moves = useMoves(board, lines, change);
  const matrix = useRef<HTMLElement>(null);
  const publish = async () => {
    const published = await place.run({ params: { zoneId }, body: { changes } });
    if (!published) return;
    toastWithUndo(t('groups.published'), () => undoPlacements(zoneId, board, changes));
    discard();
  };
  const discard = () => {
    draft.discard();
    // The buttons disappear with the draft.
    matrix.current?.focus();
  };
  return (
    <div className={classes['board']}>
      <LeaveGuard when={changes.length > 0} />
      <LineMatrix
        ref={matrix}
        board={board}
        lines={lines}
        changes={changes}
        mayWrite={mayWrite}
        moves={moves}
        onChanges={change}
        onAsk={setAsked}
        asked={asked}
        zoneId={zoneId}
        foot={mayWrite ? <AddLine taken={lines} onAdd={draft.addLine} /> : null}
      />
      <aside className={classes['side']} aria-label={t('groups.draft')}>
        {board.free.length > 0 && (
          <section>
            <h2>
              {t('groups.free')} <span>{count(board.free.length)}</span>
            </h2>
            <div className={`${classes['cell']} ${classes['free']}`}>
              {board.free.map((member) => (
                <NodeChip
                  key={member.nodeUID}
                  member={member}
                  isChanged={changes.some(({ nodeUID }) => nodeUID === member.nodeUID)}
                  isLifted={moves.isLifted(member, null)}
                  mayMove={mayWrite}
                  isFree
                  onWeight={null}
                  onTakeOff={null}
                  onLift={() => moves.lift(member, null)}
                  onKey={moves.onKey}
                  onDragEnd={moves.end}
                />
              ))}
            </div>
          </section>
        )}
        {changes.length > 0 && (
          <section>
            <h2>
              {t('groups.draft')} <span>{count(changes.length)}</span>
            </h2>
            {draft.isRestored && (
              <output>
                <Pill tone="warn">{t('common.form.restored')}</Pill>
              </output>
            )}
            <ul className={classes['edits']}>
              {changes.map((one) => (
                <li key={`${one.groupID} ${one.line} ${one.nodeUID}`}>
                  <Edit board={board} change={one} />
                </li>
              ))}
            </ul>
            <div className={classes['buttons']}>
              <Button loading={place.running} onClick={() => void publish()}>
                {t('groups.publish')}
              </Button>
              <Button variant="default" onClick={discard}>
                {t('groups.discard')}
              </Button>
            </div>
          </section>
        )}
        {cell && (
          <section>
            <h2>{t('groups.preview')}</h2>
            <ResolutionPanel
              zoneId={zoneId}
              board={board}
              lines={lines}
              changes={changes}
              cell={cell}
              onCell={setAsked}
            />
          </section>
        )}
        {/* Last: what comes late moves nothing that is being pressed. */}
        <BeyondProviders board={board} changes={changes} lines={lines} />
      </aside>
    </div>
  );
}

/** Changes that some DNS providers cannot represent exactly. */
function BeyondProviders({
  board,
  changes,
  lines,
}: {
  board: Board;
  changes: readonly Change[];
  lines: readonly string[];
}) {
  const t = useT();
  const offered = useEndpoint(dnsSetting.lines, {}).data;
  const beyond = offered && beyondProviders(board, changes, lines, offered);
  if (!beyond || (beyond.lines.length === 0 && beyond.weighting === null)) return null;
  return (
    <section aria-live="polite">
      {beyond.lines.length > 0 && <p>{t('groups.limits.lines', { lines: beyond.lines.map(lineName).join(' · ') })}</p>}
      {beyond.weighting && <p>{t(`groups.limits.${beyond.weighting}`)}</p>}
    </section>
  );
}

/** `CHT · Taiwan core: tpe-03 weight 30 → 50`. */
function Edit({ board, change }: { board: Board; change: Change }) {
  const t = useT();
  const group = board.groups.find(({ id }) => id === change.groupID)?.name ?? '';
  const place = `${lineName(change.line)} · ${group}`;
  const name = everyone(board).get(change.nodeUID)?.name ?? '';
  const stands = cellOf(board, change).find(({ nodeUID }) => nodeUID === change.nodeUID);
  if (change.weight === null) return t('groups.edits.taken', { place, name });
  if (!stands) return t('groups.edits.added', { place, name, weight: change.weight });
  return t('groups.edits.weighed', { place, name, before: stands.weight, after: change.weight });
}
