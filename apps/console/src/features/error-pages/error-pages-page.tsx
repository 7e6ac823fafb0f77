import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { IconFileAlert, IconPower } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { does, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { ErrorPageForm, type ErrorPage } from './error-page-form.tsx';
import { ErrorPageState, ErrorPageType } from './error-page-state.tsx';

const columns: Column<ErrorPage>[] = [
  { key: 'code', sort: false },
  { key: 'type', sort: false, render: (page) => <ErrorPageType page={page} />, text: ({ type }) => type },
  { key: 'value', sort: false, priority: 2, render: ({ value }) => value.slice(0, 120) },
  {
    key: 'enabled',
    sort: false,
    render: (page) => <ErrorPageState page={page} />,
    text: ({ enabled }) => String(enabled),
  },
  { key: 'updatedAt', as: 'time', sort: false, priority: 3 },
];

/** Custom error pages by status code. */
export function ErrorPagesPage() {
  const { id: siteId } = useSite();
  const params = { siteId };
  return (
    <Page title="errorPages.title" create={<ErrorPageForm siteId={siteId} />} creates={errorPages.create}>
      <ResourceTable
        endpoint={errorPages.list}
        params={params}
        columns={columns}
        row={(row) => [
          edit(<ErrorPageForm siteId={siteId} value={row} />, { can: errorPages.update.can }),
          turn(siteId, row),
          remove(errorPages.remove),
        ]}
        bulk={[remove(errorPages.remove)]}
        phone={(row) => ({ below: <ErrorPageType page={row} />, end: <ErrorPageState page={row} /> })}
        empty={{ icon: IconFileAlert }}
      />
    </Page>
  );
}

const turn = (siteId: string, { enabled }: ErrorPage) => {
  const turned = (rows: readonly ErrorPage[], on: boolean) => ({
    params: { siteId },
    body: {
      errorPages: rows.map(({ id, code, type, value, edgeOnly }) => ({ id, code, type, value, edgeOnly, enabled: on })),
    },
  });
  return does<ErrorPage, typeof errorPages.update>(errorPages.update, {
    label: enabled ? 'common.turnOff' : 'common.turnOn',
    icon: IconPower,
    done: enabled ? 'common.turnedOff' : 'common.turnedOn',
    send: (rows) => turned(rows, !enabled),
    undo: (rows) => [
      {
        ids: rows.map(({ id }) => id),
        send: (ids) =>
          turned(
            rows.filter(({ id }) => ids.includes(id)),
            enabled,
          ),
      },
    ],
  });
};
