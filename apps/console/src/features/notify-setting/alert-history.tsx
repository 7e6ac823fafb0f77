import { alerts } from '@edgeloom/contract/alerts/alerts.endpoints.ts';
import { IconBellCheck } from '@tabler/icons-react';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { lasted } from '../../lib/format.ts';
import { t, useLanguage, useT } from '../../lib/i18n.ts';
import { useNow } from '../../lib/use-now.ts';

type Alert = RowOf<typeof alerts.list>;

const POLL_MS = 30_000;
const kindOf = ({ kind }: Alert) => t(`alerts.kinds.${kind}`);
const stateOf = ({ severity, endedAt }: Alert) => (endedAt === null ? severity : 'ended');
const siteOf = ({ siteName }: Alert) => siteName ?? '';

function Kind({ of: alert }: { of: Alert }) {
  useT();
  return <Status kind="alert" value={stateOf(alert)} text={kindOf(alert)} />;
}

function Lasted({ of: { beganAt, endedAt } }: { of: Alert }) {
  const language = useLanguage();
  const now = useNow(endedAt === null);
  // The browser's clock may be slow.
  return lasted(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(beganAt)), language);
}

const columns: Column<Alert>[] = [
  { key: 'kind', sort: false, text: kindOf, render: (alert) => <Kind of={alert} /> },
  { key: 'name', sort: false, flexible: true },
  { key: 'site', sort: false, flexible: true, priority: 2, text: siteOf, render: siteOf },
  { key: 'beganAt', as: 'time' },
  { key: 'endedAt', as: 'time' },
  { key: 'lasted', sort: false, align: 'right', priority: 2, render: (alert) => <Lasted of={alert} /> },
];

/** Newest first. Open alerts keep their severity's color, ended ones are grey. */
export function AlertHistory() {
  return (
    <ResourceTable
      endpoint={alerts.list}
      columns={columns}
      sort="-beganAt"
      pollMs={POLL_MS}
      caption="notifySetting.tabs.history"
      filters={[{ key: 'isOpen', yesNo: true }]}
      phone={(alert) => ({ below: alert.name })}
      empty={{ icon: IconBellCheck }}
    />
  );
}
