import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { IconListDetails } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { open } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import type { Filter } from '../../components/resource-table/filter-chip.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { time as timeText } from '../../lib/format.ts';
import { AuditDetail } from './audit-detail.tsx';
import { actorOf, resultOf } from './in-words.ts';
import { sentenceText, type LoggedAction } from './sentence.ts';
import { SentenceOf } from './sentence-of.tsx';
import { toneOfAction } from './tone.ts';
import classes from './audit.module.css';

const columns: Column<LoggedAction>[] = [
  {
    key: 'time',
    ordered: 'desc',
    render: (row) => <DetailButton row={row} />,
    text: ({ time }) => timeText(new Date(time)),
  },
  { key: 'accountName', render: actorOf, text: actorOf },
  { key: 'sentence', render: (row) => <SentenceOf row={row} />, text: sentenceText },
  { key: 'result', render: (row) => <Result row={row} />, text: resultOf },
  { key: 'proxyName', hidden: true },
  { key: 'method', hidden: true, inFile: true },
  { key: 'url', hidden: true, inFile: true },
  { key: 'status', hidden: true, inFile: true },
  { key: 'changeCount', as: 'count', hidden: true },
  { key: 'address', hidden: true, inFile: true },
  { key: 'callCount', as: 'count', hidden: true },
  { key: 'reqID', hidden: true, inFile: true },
];

const { method, outcome, detail } = audit.search.body.shape;
const filters: readonly Filter[] = [
  { key: 'outcome', choices: outcome.unwrap().options },
  { key: 'startTime', typed: 'time' },
  { key: 'endTime', typed: 'time' },
  { key: 'accountName', typed: 'text' },
  { key: 'proxyName', typed: 'text' },
  { key: 'detail', choices: detail.unwrap().options },
  { key: 'method', choices: method.unwrap().options },
  { key: 'url', typed: 'text' },
  { key: 'reqID', typed: 'text' },
];

export const AuditPage = () => (
  <Page title="audit.title">
    <ResourceTable
      endpoint={audit.search}
      columns={columns}
      search="keyword"
      filters={filters}
      row={(row) => [
        open({
          label: 'audit.show',
          icon: IconListDetails,
          element: <AuditDetail row={row} />,
          title: 'audit.detail',
          ofRow: true,
          wide: true,
          can: audit.get.can,
        }),
      ]}
      phone={(row) => ({
        name: <SentenceOf row={row} />,
        below: (
          <span className={classes['phoneLine']}>
            <span className={classes['actor']}>{actorOf(row)}</span> · <Time at={row.time} />
          </span>
        ),
        end: <Result row={row} isShort />,
      })}
    />
  </Page>
);

function DetailButton({ row }: { row: LoggedAction }) {
  const open = useOverlay();
  return (
    <button
      type="button"
      className={classes['opens']}
      onClick={() => open(<AuditDetail row={row} />, { title: 'audit.detail', wide: true })}
    >
      <Time at={row.time} />
    </button>
  );
}

/** Nothing for a successful action. */
function Result({ row, isShort = false }: { row: LoggedAction; isShort?: boolean }) {
  const text = resultOf(row, isShort);
  return text === '' ? null : <Pill tone={toneOfAction(row)}>{text}</Pill>;
}
