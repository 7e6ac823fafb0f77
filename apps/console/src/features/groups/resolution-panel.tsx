import type { Received } from '@edgeloom/contract/endpoint.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { Select } from '@mantine/core';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { time } from '../../lib/format.ts';
import { useT, type T } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { stateOfMember, toneOfMember, troubleOf, type Board, type Cell, type Change } from './board.ts';
import classes from './groups.module.css';
import { lineName } from './line-name.ts';

interface ResolutionPanelProps {
  zoneId: string;
  board: Board;
  lines: readonly string[];
  changes: readonly Change[];
  cell: Cell;
  onCell: (cell: Cell) => void;
}

/** DNS answer for a visitor of a line, including unpublished changes. */
export function ResolutionPanel({ zoneId, board, lines, changes, cell, onCell }: ResolutionPanelProps) {
  const t = useT();
  const { groupID, line } = cell;
  const found = useEndpoint(
    groups.resolution,
    { params: { zoneId }, body: { groupID, line, changes: [...changes] } },
    { pollMs: 5000 },
  );
  const nameOf = (id: string) => board.groups.find((group) => group.id === id)?.name ?? '';
  return (
    <>
      <div className={classes['selects']}>
        <Select
          aria-label={t('groups.visitorOf')}
          data={lines.map((one) => ({ value: one, label: t('groups.visitor', { line: lineName(one) }) }))}
          value={line}
          allowDeselect={false}
          onChange={(next) => next && onCell({ groupID, line: next })}
        />
        <Select
          aria-label={t('groups.asksFor')}
          data={board.groups.map(({ id, name, dnsLabel }) => ({ value: id, label: `${name} · ${dnsLabel}` }))}
          value={groupID}
          allowDeselect={false}
          onChange={(next) => next && onCell({ groupID: next, line })}
        />
      </div>
      <Await result={found}>
        {({ answers, out, line: answering, groupID: whose }) => (
          <>
            <ul className={classes['answers']}>
              {answers.length === 0 && <li>{t('groups.noAnswer')}</li>}
              {answers.map((answer) => (
                <li key={answer.value}>
                  <AnswerMark answer={answer} />
                  <span className={classes['value']}>{answer.value}</span>
                  <span>{factsOf(answer, t).join(' · ')}</span>
                </li>
              ))}
              {out.map((one) => (
                <li key={one.nodeUID} className={classes['out']}>
                  <StatusMark tone={toneOfMember(one)} />
                  <span className={classes['value']}>{one.name}</span>
                  <span>
                    {t(`groups.reasons.${one.reason}`)}
                    {one.since !== null && ` · ${sinceText(one.since)}`}
                  </span>
                </li>
              ))}
            </ul>
            {answering !== line && <p className={classes['note']}>{t('groups.answeredAsDefault')}</p>}
            {whose !== groupID && <p className={classes['note']}>{t('groups.answeredBy', { name: nameOf(whose) })}</p>}
          </>
        )}
      </Await>
    </>
  );
}

type Answer = Received<typeof groups.resolution>['answers'][number];

/** An answer of an earlier pass may contain a removed node, which has no state. */
function AnswerMark({ answer }: { answer: Answer }) {
  const t = useT();
  const state = { ...answer, reason: null, isAnswered: true };
  if (answer.nodeUID === null) return <StatusMark tone="unknown" />;
  return <StatusMark tone={toneOfMember(state)} label={stateOfMember(state, t)} />;
}

function factsOf(answer: Answer, t: T): string[] {
  const trouble = troubleOf(answer);
  return [
    ...(answer.name === '' ? [] : [answer.name]),
    String(answer.weight),
    ...(trouble === null ? [] : [t(`status.node.${trouble}`)]),
  ];
}

/** Only the time for today. */
function sinceText(since: string): string {
  const text = time(since);
  return text.startsWith(time(new Date()).slice(0, 11)) ? text.slice(11) : text;
}
