import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { IconCircleCheck, IconHandGrab, IconRefresh } from '@tabler/icons-react';
import { does } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { faultWords } from '../../lib/provider-words.ts';

type Unprocessed = RowOf<typeof dnsSetting.unprocessed>;

const wordsOf = (fault: string | null) => (fault === null ? t('unprocessed.notYet') : faultWords(fault));

/** The name has a record that this installation does not manage. */
const isForeign = ({ fault }: Unprocessed) => fault?.startsWith('not ours') === true;

const columns: Column<Unprocessed>[] = [
  { key: 'name', flexible: true },
  {
    key: 'answers',
    sort: false,
    flexible: true,
    text: ({ answers }) => answers.join('; '),
    render: ({ answers }) =>
      answers.length === 0 ? t('unprocessed.goes') : <span title={answers.join('\n')}>{answers.join('; ')}</span>,
  },
  {
    key: 'fault',
    sort: false,
    flexible: true,
    text: ({ fault }) => wordsOf(fault),
    render: ({ fault }) => <span title={wordsOf(fault)}>{wordsOf(fault)}</span>,
  },
  { key: 'tries', sort: false, as: 'count', priority: 3 },
  { key: 'dueAt', as: 'time', priority: 2 },
  { key: 'wantedAt', as: 'time', priority: 3 },
];
const trying = does<Unprocessed, typeof dnsSetting.recovery>(dnsSetting.recovery, {
  label: 'unprocessed.recover',
  icon: IconRefresh,
  done: 'unprocessed.recovered',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
});
const taking = does<Unprocessed, typeof dnsSetting.recovery>(dnsSetting.recovery, {
  label: 'unprocessed.takeOver',
  icon: IconHandGrab,
  done: 'unprocessed.recovered',
  danger: true,
  applies: isForeign,
  skips: 'unprocessed.takeOverSkips',
  confirm: () => ({ points: [t('unprocessed.takeOverPoint'), t('shared.confirm.final')] }),
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id), takeOver: true } }),
});

/** Names that are not in sync, with the reason. */
export function UnprocessedTable() {
  useT();
  return (
    <ResourceTable
      endpoint={dnsSetting.unprocessed}
      columns={columns}
      pollMs={5000}
      row={(row) => (isForeign(row) ? [trying, taking] : [trying])}
      bulk={[trying, taking]}
      words="unprocessed"
      phone={({ fault }) => ({ below: wordsOf(fault) })}
      empty={{ icon: IconCircleCheck }}
    />
  );
}
