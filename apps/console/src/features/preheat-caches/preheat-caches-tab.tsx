import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { IconFlame, IconRefresh, IconServer } from '@tabler/icons-react';
import { useMemo } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { does, open, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { CopiesOf } from './copies-of.tsx';
import classes from './preheat-caches.module.css';

type CachedUrl = RowOf<typeof preheatCaches.list>;

const tones = { stored: 'ok', waiting: 'busy', failing: 'warn', resting: 'off' } as const;
const storedOn = ({ stored, nodes }: CachedUrl) =>
  nodes === 0 ? t('preheatCaches.noNodes') : t('preheatCaches.stored', { stored, nodes });

const columns: Column<CachedUrl>[] = [
  { key: 'url', flexible: true, render: ({ url }) => <span title={url}>{url}</span> },
  { key: 'state', sort: false, render: (row) => <State row={row} />, text: ({ state }) => stateText(state) },
  { key: 'stored', sort: false, align: 'right', render: storedOn, text: storedOn },
  { key: 'warmedAt', sort: false, as: 'time', priority: 2 },
  { key: 'domainName', sort: false, priority: 3 },
  { key: 'siteName', sort: false, priority: 3 },
  { key: 'createdBy', sort: false, priority: 2 },
  { key: 'createdAt', as: 'time', priority: 3 },
];
const stateText = (state: CachedUrl['state']) => t(`preheatCaches.choices.state.${state}`);

const warmingIn = (zoneId: string) =>
  does<CachedUrl, typeof preheatCaches.warm>(preheatCaches.warm, {
    label: 'preheatCaches.warm',
    icon: IconRefresh,
    done: 'preheatCaches.warming',
    send: (rows) => ({ params: { zoneId }, body: { ids: rows.map(({ id }) => id) } }),
  });
const removing = remove<CachedUrl, typeof preheatCaches.remove>(preheatCaches.remove, {
  confirm: () => ({ points: [t('preheatCaches.removePoint')] }),
});

/** URLs that all nodes of a zone keep cached. */
export function PreheatCachesTab({ zoneId }: { zoneId: string }) {
  const t = useT();
  const warming = useMemo(() => warmingIn(zoneId), [zoneId]);
  return (
    <>
      <p className={classes['why']}>{t('preheatCaches.why')}</p>
      <ResourceTable
        endpoint={preheatCaches.list}
        params={{ zoneId }}
        columns={columns}
        search="url"
        pollMs={5000}
        caption="preheatCaches.title"
        counted={() => null}
        row={(row) => [
          open({
            label: 'preheatCaches.nodes',
            icon: IconServer,
            element: <CopiesOf zoneId={zoneId} preheatId={row.id} url={row.url} />,
          }),
          warming,
          removing,
        ]}
        bulk={[warming, removing]}
        phone={(row) => ({ below: storedOn(row), end: <State row={row} /> })}
        empty={{ icon: IconFlame }}
      />
    </>
  );
}

function State({ row: { state } }: { row: CachedUrl }) {
  return <Pill tone={tones[state]}>{useT()(`preheatCaches.choices.state.${state}`)}</Pill>;
}

export function PreheatCachesForm({ zoneId }: { zoneId: string }) {
  return (
    <ResourceForm create={preheatCaches.create} params={{ zoneId }} done="preheatCaches.added">
      <LinesField name="urls" rows={12} placeholder="https://www.example.com/video/intro.mp4" whole />
    </ResourceForm>
  );
}
