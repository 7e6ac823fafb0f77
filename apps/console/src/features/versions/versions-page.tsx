import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { IconArrowBackUp, IconArrowsDiff, IconHistory, IconListDetails } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { count } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { kindName } from './differences.tsx';
import { VersionDifference } from './version-difference.tsx';
import { VersionRollback } from './version-rollback.tsx';

type Version = RowOf<typeof versions.list>;

const whoOf = ({ accountName, proxyName }: Version) => {
  const who = accountName === '' ? t('versions.product') : accountName;
  return proxyName === '' ? who : `${who} (${t('versions.by', { name: proxyName })})`;
};
const changesOf = ({ changes }: Version) =>
  changes
    .map(({ kind, names, ...counts }) => {
      const said = (['added', 'changed', 'removed'] as const)
        .filter((way) => counts[way] > 0)
        .map((way) => t(`versions.${way}`, { number: count(counts[way]) }));
      const first = names.filter((name) => name !== '').join(', ');
      return `${kindName(kind)}${first === '' ? '' : ` ${first}`}: ${said.join(', ')}`;
    })
    .join('; ');
const whyOf = ({ reason, restores }: Version) =>
  [restores === null ? '' : t('versions.restores', { version: restores }), reason].filter(Boolean).join(': ');

const columns: Column<Version>[] = [
  { key: 'version' },
  { key: 'changes', render: changesOf, text: changesOf, flexible: true },
  { key: 'accountName', render: whoOf, text: whoOf, priority: 2 },
  { key: 'reason', render: whyOf, text: whyOf, priority: 2 },
  { key: 'at', as: 'time' },
];

/** Every change of the site: what it came to, how it differs from now, and the way back to it. */
export function VersionsPage() {
  const overlay = useOverlay();
  const { id } = useSite();
  const newest = useEndpoint(versions.list, {
    params: { siteId: id },
    query: { sortBy: 'version', orderBy: 'desc', pageSize: 1 },
  });
  const now = newest.data?.data[0]?.version ?? 0;
  return (
    <Page title="versions.title">
      <ResourceTable
        endpoint={versions.list}
        params={{ siteId: id }}
        columns={columns}
        sort="-version"
        row={({ version }) => [
          act<Version>({
            label: 'versions.show',
            icon: IconListDetails,
            run: () =>
              overlay(<VersionDifference siteId={id} version={version} />, {
                title: 'versions.difference',
                wide: true,
              }),
          }),
          act<Version>({
            label: 'versions.compare',
            icon: IconArrowsDiff,
            run: () =>
              overlay(<VersionDifference siteId={id} version={now} against={version} />, {
                title: 'versions.difference',
                wide: true,
              }),
          }),
          open({
            label: 'versions.rollback',
            icon: IconArrowBackUp,
            element: <VersionRollback siteId={id} version={version} />,
            title: 'versions.rollback',
            can: versions.rollback.can,
          }),
        ]}
        phone={(version) => ({ below: changesOf(version) })}
        empty={{ icon: IconHistory }}
      />
    </Page>
  );
}
