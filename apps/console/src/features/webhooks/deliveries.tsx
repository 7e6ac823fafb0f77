import { webhooks } from '@edgeloom/contract/webhooks/webhooks.endpoints.ts';
import { MAX_DELIVERIES } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { Button } from '@mantine/core';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { clock, count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './webhooks.module.css';

type Delivery = RowOf<typeof webhooks.deliveries>;

const POLL_MS = 5000;
const toneOf = ({ sentAt, failedAt }: Delivery) => (sentAt !== null ? 'ok' : failedAt !== null ? 'bad' : 'warn');

/** The last deliveries of a webhook. */
export function Deliveries({ of: webhookID }: { of: string }) {
  const t = useT();
  const query = { pageSize: MAX_DELIVERIES, orderBy: 'desc' as const };
  return (
    <Await result={useEndpoint(webhooks.deliveries, { params: { webhookID }, query }, { pollMs: POLL_MS })}>
      {({ data }) =>
        data.length === 0 ? (
          <p className={classes['shown']}>{t('webhooks.noDeliveries')}</p>
        ) : (
          <ol className={classes['deliveries']}>
            {data.map((delivery) => (
              <Line key={delivery.id} webhookID={webhookID} of={delivery} />
            ))}
          </ol>
        )
      }
    </Await>
  );
}

function Line({ webhookID, of: delivery }: { webhookID: string; of: Delivery }) {
  const t = useT();
  const can = useCan();
  const { run, running } = useAction(webhooks.resend, { done: 'webhooks.resent' });
  const { id, createdAt, eventCount, tries, lastError, nextTryAt } = delivery;
  const tone = toneOf(delivery);
  const facts = [
    t('webhooks.eventCount', { count: eventCount, number: count(eventCount) }),
    t('webhooks.tries', { count: tries, number: count(tries) }),
    ...(lastError === null ? [] : [t(`notifySetting.errors.${lastError}`)]),
    ...(nextTryAt === null ? [] : [t('webhooks.nextTry', { time: clock(new Date(nextTryAt)) })]),
  ];
  return (
    <li>
      <StatusMark tone={tone} label={t(`status.tone.${tone}`)} />
      <div>
        <Time at={createdAt} />
        <p>{facts.join(t('common.semicolon'))}</p>
      </div>
      {can(webhooks.resend) && nextTryAt === null && (
        <Button
          size="compact-sm"
          variant="default"
          loading={running}
          onClick={() => void run({ params: { webhookID }, body: { ids: [id] } }).catch(() => undefined)}
        >
          {t('webhooks.resend')}
        </Button>
      )}
    </li>
  );
}
