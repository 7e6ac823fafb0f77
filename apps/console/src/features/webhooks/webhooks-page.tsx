import { webhooks } from '@edgeloom/contract/webhooks/webhooks.endpoints.ts';
import { IconListDetails, IconWebhook } from '@tabler/icons-react';
import { Page } from '../../components/page/page.tsx';
import { edit, open, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { Deliveries } from './deliveries.tsx';
import { WebhookForm } from './webhook-form.tsx';

type Webhook = RowOf<typeof webhooks.list>;

const POLL_MS = 10_000;
const eventsOf = ({ events }: Webhook) => events.map((kind) => t(`alerts.kinds.${kind}`)).join(t('common.comma'));
const stateOf = ({ enabled, lastError }: Webhook) => (!enabled ? 'off' : lastError === null ? 'ok' : 'failing');
const whyOf = ({ enabled, lastError }: Webhook) =>
  enabled && lastError !== null ? t(`notifySetting.errors.${lastError}`) : null;

function State({ of: webhook }: { of: Webhook }) {
  useT();
  return <Status kind="webhook" value={stateOf(webhook)} why={whyOf(webhook)} />;
}

const columns: Column<Webhook>[] = [
  { key: 'name', flexible: true },
  { key: 'url', sort: false, flexible: true },
  {
    key: 'state',
    sort: false,
    text: (webhook) => t(`status.webhook.${stateOf(webhook)}`),
    render: (webhook) => <State of={webhook} />,
  },
  { key: 'events', sort: false, flexible: true, priority: 2, text: eventsOf, render: eventsOf },
  { key: 'createdAt', as: 'time', priority: 3 },
];
const removing = remove<Webhook, typeof webhooks.remove>(webhooks.remove);

export function WebhooksPage() {
  return (
    <Page title="webhooks.title" create={<WebhookForm />} creates={webhooks.create}>
      <ResourceTable
        endpoint={webhooks.list}
        columns={columns}
        pollMs={POLL_MS}
        row={(webhook) => [
          edit(<WebhookForm value={webhook} />, { can: webhooks.update.can }),
          open({ label: 'webhooks.log', icon: IconListDetails, element: <Deliveries of={webhook.id} /> }),
          removing,
        ]}
        bulk={[removing]}
        phone={(webhook) => ({ below: <State of={webhook} /> })}
        empty={{ icon: IconWebhook }}
      />
    </Page>
  );
}
