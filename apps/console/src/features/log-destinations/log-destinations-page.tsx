import { logDestinations } from '@edgeloom/contract/log-destinations/log-destinations.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconSend, IconTestPipe } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, edit, remove, turnOff, turnOn } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { duration } from '../../lib/format.ts';
import { t, useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { LogDestinationForm, type LogDestination } from './log-destination-form.tsx';

const POLL_MS = 5000;

/** `status 503` in words. */
function errorText(error: string): string {
  const [code = '', number = ''] = error.split(' ');
  if (code === 'status') return t('logDestinations.errors.status', { status: number });
  const known = ['timeout', 'certificate', 'policy', 'secret'] as const;
  return t(`logDestinations.errors.${known.find((each) => each === code) ?? 'connection'}`);
}

function stateOf({ enabled, lastError, succeededAt }: LogDestination) {
  if (!enabled) return 'off';
  if (lastError !== '') return 'failing';
  return succeededAt === null ? 'waiting' : 'ok';
}

const State = ({ row }: { row: LogDestination }) => (
  <Status
    kind="logDestination"
    value={stateOf(row)}
    why={row.enabled && row.lastError !== '' ? errorText(row.lastError) : null}
  />
);

function Delay({ row: { enabled, delaySeconds } }: { row: LogDestination }) {
  const language = useLanguage();
  return enabled && delaySeconds > 0 ? <>{duration(delaySeconds, language)}</> : <Nothing />;
}

const columns: Column<LogDestination>[] = [
  { key: 'name' },
  { key: 'kind', render: ({ kind }) => t(`logDestinations.kinds.${kind}`), priority: 2 },
  { key: 'target', flexible: true },
  { key: 'state', render: (row) => <State row={row} />, text: (row) => t(`status.logDestination.${stateOf(row)}`) },
  { key: 'delaySeconds', align: 'right', render: (row) => <Delay row={row} /> },
  { key: 'sentLines', as: 'count', priority: 2 },
  { key: 'droppedLines', as: 'count', priority: 2 },
  { key: 'succeededAt', as: 'time', priority: 2 },
];

/** Destinations of the site's logs, with their states. */
export function LogDestinationsPage() {
  const { id: siteId } = useSite();
  const params = { siteId };
  const test = useAction(logDestinations.test);
  const removing = remove<LogDestination, typeof logDestinations.remove>(logDestinations.remove);
  const switches = [
    turnOn<LogDestination, typeof logDestinations.enable>(logDestinations.enable, {
      applies: ({ enabled }) => !enabled,
    }),
    turnOff<LogDestination, typeof logDestinations.enable>(logDestinations.enable, {
      applies: ({ enabled }) => enabled,
    }),
  ];
  const runTest = async (row: LogDestination) => {
    const result = await test.run({ params: { siteId, destinationID: row.id } });
    if (result === null) return;
    if (result.error === '') toast({ text: t('logDestinations.tested', { name: row.name }) });
    else toast({ tone: 'bad', text: t('logDestinations.notTested', { name: row.name, why: errorText(result.error) }) });
  };
  return (
    <Page
      title="logDestinations.title"
      create={<LogDestinationForm siteId={siteId} />}
      creates={logDestinations.create}
    >
      <ResourceTable
        endpoint={logDestinations.list}
        params={params}
        columns={columns}
        pollMs={POLL_MS}
        row={(row) => [
          edit(<LogDestinationForm siteId={siteId} value={row} />, {
            title: 'logDestinations.edit',
            can: logDestinations.update.can,
          }),
          act<LogDestination>({
            label: 'logDestinations.test',
            icon: IconTestPipe,
            can: logDestinations.test.can,
            run: () => runTest(row),
          }),
          ...switches,
          removing,
        ]}
        bulk={[...switches, removing]}
        phone={(row) => ({ below: row.target, end: <State row={row} /> })}
        empty={{ icon: IconSend, action: <First siteId={siteId} /> }}
      />
    </Page>
  );
}

function First({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(logDestinations.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<LogDestinationForm siteId={siteId} />, { title: 'logDestinations.create' })}
    >
      {t('logDestinations.create')}
    </Button>
  );
}
