import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { Button } from '@mantine/core';
import { IconArrowBackUp, IconArrowsDiff, IconHistory, IconListDetails } from '@tabler/icons-react';
import { countedKind } from '../../components/differences/in-words.ts';
import { useSides, type Sides } from '../../components/differences/version-pair.tsx';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { act, open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { Comparison } from './comparison.tsx';
import { VersionRollback } from './version-rollback.tsx';

type Version = RowOf<typeof versions.list>;

const whoOf = ({ accountName, proxyName }: Version) => {
  const who = accountName === '' ? t('versions.product') : accountName;
  return proxyName === '' ? who : `${who} (${t('versions.by', { name: proxyName })})`;
};
const changesOf = ({ changes }: Version) =>
  changes
    .map(({ kind, names, ...counts }) => {
      const counted = (['added', 'changed', 'removed'] as const)
        .filter((way) => counts[way] > 0)
        .map((way) => t(`versions.${way}`, { things: countedKind(kind, counts[way]) }));
      const first = names.filter((name) => name !== '').join(t('common.comma'));
      return `${counted.join(t('common.comma'))}${first === '' ? '' : `${t('common.colon')}${first}`}`;
    })
    .join(t('common.semicolon'));
const whyOf = ({ reason, restores }: Version) =>
  [restores === null ? '' : t('versions.restores', { version: restores }), reason]
    .filter(Boolean)
    .join(t('common.colon'));

const columns: Column<Version>[] = [
  { key: 'version' },
  { key: 'changes', render: changesOf, text: changesOf, flexible: true },
  { key: 'accountName', render: whoOf, text: whoOf, priority: 2 },
  { key: 'reason', render: whyOf, text: whyOf, priority: 2 },
  { key: 'at', as: 'time' },
];

/** Version history of a site, with comparison and restore. */
export function VersionsPage() {
  const t = useT();
  const { id } = useSite();
  const [sides, compare] = useSides();
  if (sides === null) return <VersionList siteId={id} compare={compare} />;
  return (
    <Page
      title="versions.difference"
      actions={
        <Button variant="default" leftSection={<IconHistory size={15} stroke={1.6} />} onClick={() => compare(null)}>
          {t('versions.back')}
        </Button>
      }
    >
      <Comparison siteId={id} {...sides} choose={compare} />
    </Page>
  );
}

interface ListProps {
  siteId: string;
  compare: (sides: Sides) => void;
}

function VersionList({ siteId, compare }: ListProps) {
  const newest = useEndpoint(versions.list, {
    params: { siteId },
    query: { sortBy: 'version', orderBy: 'desc', pageSize: 1 },
  });
  const now = newest.data?.data[0]?.version ?? 0;
  return (
    <Page title="versions.title">
      <ResourceTable
        endpoint={versions.list}
        params={{ siteId }}
        columns={columns}
        sort="-version"
        row={({ version }) => [
          act<Version>({
            label: 'versions.show',
            icon: IconListDetails,
            run: () => compare({ from: version - 1, to: version }),
          }),
          act<Version>({
            label: 'versions.compare',
            icon: IconArrowsDiff,
            run: () => compare({ from: version, to: now }),
          }),
          open({
            label: 'versions.rollback',
            icon: IconArrowBackUp,
            element: <VersionRollback siteId={siteId} version={version} />,
            title: 'versions.rollback',
            can: versions.rollback.can,
          }),
        ]}
        bulk={[
          act<Version>({
            label: 'versions.choose',
            icon: IconArrowsDiff,
            run: (chosen) => {
              const [one, other] = chosen.map(({ version }) => version).toSorted((a, b) => a - b);
              if (chosen.length === 2 && one !== undefined && other !== undefined) compare({ from: one, to: other });
              else toast({ text: t('versions.two') });
            },
          }),
        ]}
        phone={(version) => ({ below: changesOf(version) })}
        empty={{ icon: IconHistory }}
      />
    </Page>
  );
}
