import { defaultErrorPages } from '@edgeloom/contract/default-error-pages/default-error-pages.endpoints.ts';
import { IconFileAlert, IconPower } from '@tabler/icons-react';
import { Page } from '../../components/page/page.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { does, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { ErrorPageFields, examplePage } from '../error-pages/error-page-form.tsx';
import { ErrorPageState, ErrorPageType } from '../error-pages/error-page-state.tsx';

type Row = RowOf<typeof defaultErrorPages.list>;

const columns: Column<Row>[] = [
  { key: 'code' },
  { key: 'type', sort: false, render: (row) => <ErrorPageType page={row} />, text: ({ type }) => type },
  { key: 'value', sort: false, priority: 2, render: ({ value }) => value.slice(0, 120) },
  {
    key: 'enabled',
    sort: false,
    render: (row) => <ErrorPageState page={row} />,
    text: ({ enabled }) => String(enabled),
  },
  { key: 'updatedAt', as: 'time', priority: 3 },
];

/** The operator's error pages, for its sites without a page of their own. */
export function DefaultErrorPagesPage() {
  return (
    <Page title="defaultErrorPages.title" create={<DefaultErrorPageForm />} creates={defaultErrorPages.create}>
      <ResourceTable
        endpoint={defaultErrorPages.list}
        columns={columns}
        sort="code"
        row={(row) => [
          edit(<DefaultErrorPageForm value={row} />, { can: defaultErrorPages.update.can }),
          turn(row),
          remove(defaultErrorPages.remove),
        ]}
        bulk={[remove(defaultErrorPages.remove)]}
        phone={(row) => ({ below: <ErrorPageType page={row} />, end: <ErrorPageState page={row} /> })}
        empty={{ icon: IconFileAlert }}
      />
    </Page>
  );
}

function DefaultErrorPageForm({ value }: { value?: Row }) {
  return (
    <ResourceForm
      words="errorPages"
      create={defaultErrorPages.create}
      update={defaultErrorPages.update}
      value={value}
      initial={value ? {} : { code: 502, type: 'content', value: examplePage, edgeOnly: true }}
      says={{ 101025: 'defaultErrorPages.taken' }}
    >
      <ErrorPageFields />
    </ResourceForm>
  );
}

const turn = ({ id, code, type, value, edgeOnly, enabled }: Row) =>
  does<Row, typeof defaultErrorPages.update>(defaultErrorPages.update, {
    label: enabled ? 'common.turnOff' : 'common.turnOn',
    icon: IconPower,
    done: enabled ? 'common.turnedOff' : 'common.turnedOn',
    send: () => ({ body: { id, code, type, value, edgeOnly, enabled: !enabled } }),
  });
