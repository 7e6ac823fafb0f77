import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { Button } from '@mantine/core';
import { IconListDetails, IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { ForwardForm, ManyForwardsForm, type Port } from './forward-form.tsx';
import classes from './ports.module.css';
import { listenOf, off, on, SwitchForward } from './switch-forward.tsx';
import { WebPorts } from './web-ports.tsx';

const columns: Column<Port>[] = [
  {
    key: 'port',
    render: (forward) => <Listen forward={forward} />,
    text: listenOf,
  },
  {
    key: 'upstreams',
    flexible: true,
    render: ({ upstreams }) => <Origins of={upstreams} />,
    text: ({ upstreams }) => upstreams.map(({ address, port }) => `${address}:${port}`).join(', '),
  },
  { key: 'proxy', sort: false, render: (forward) => proxyOf(forward) || <Nothing />, text: proxyOf, priority: 2 },
  {
    key: 'enabled',
    sort: false,
    render: (forward) => <SwitchForward forward={forward} />,
    text: ({ enabled }) => t(enabled ? 'common.on' : 'common.off'),
  },
  { key: 'memo', priority: 2 },
  { key: 'updatedAt', as: 'time', priority: 3 },
];
const refreshes = ['sites'];
const removing = remove<Port, typeof ports.remove>(ports.remove, {
  refreshes,
  applies: ({ enabled }) => !enabled,
  confirm: () => ({ points: [t('ports.removePoint')] }),
});

/** Open ports of the zone, and the site's forwards. */
export function PortsPage() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { id: siteId, portCount, portLimit: limit } = useSite();
  const left = limit === 0 ? null : Math.max(0, limit - portCount);
  return (
    <Page
      title="ports.title"
      // At the limit, the button is replaced by an explanation.
      {...(left !== 0 && { create: <ForwardForm siteId={siteId} />, creates: ports.create })}
      facts={left !== null && left <= limit * 0.2 && <Left count={left} />}
      actions={
        left !== 0 &&
        can(ports.createLines) && (
          <Button
            variant="default"
            leftSection={<IconListDetails size={15} stroke={1.6} />}
            onClick={() => overlay(<ManyForwardsForm siteId={siteId} />, { title: 'ports.createMany' })}
          >
            {t('ports.createMany')}
          </Button>
        )
      }
    >
      <WebPorts siteId={siteId} />
      <h2 className={classes['heading']}>{t('ports.forwards')}</h2>
      <ResourceTable
        endpoint={ports.list}
        params={{ siteId }}
        query={{ portType: '4' }}
        columns={columns}
        search="keyword"
        filters={[{ key: 'enabled', label: 'common.fields.status', choices: ['true', 'false'] }]}
        caption="ports.forwards"
        counted={(total) =>
          limit === 0
            ? t('ports.count', { count: total })
            : t('ports.countOf', { count: count(total), limit: count(limit) })
        }
        row={(forward) => [
          edit(<ForwardForm siteId={siteId} value={forward} />, { title: 'ports.edit', can: ports.update.can }),
          forward.enabled ? off : on,
          removing,
        ]}
        bulk={[on, off, removing]}
        phone={(forward) => ({ below: <Origins of={forward.upstreams} />, end: <SwitchForward forward={forward} /> })}
        empty={{ icon: IconPlugConnected, action: left !== 0 && <First siteId={siteId} /> }}
      />
    </Page>
  );
}

function Listen({ forward: { port, protocol } }: { forward: Port }) {
  return (
    <>
      <b>{port}</b>
      <span className={classes['protocol']}>{protocol.toUpperCase()}</span>
    </>
  );
}

/** The first active origin, and the number of others. */
function Origins({ of }: { of: Port['upstreams'] }) {
  const first = of.find(({ backup, enabled }) => enabled && !backup) ?? of[0];
  if (!first) return <Nothing />;
  return (
    <>
      {first.address.includes(':') ? `[${first.address}]` : first.address}:{first.port}
      {of.length > 1 && <span className={classes['plus']}> +{of.length - 1}</span>}
    </>
  );
}

function proxyOf({ acceptProxy, sendProxy }: Port): string {
  if (acceptProxy && sendProxy) return t('ports.proxy.both');
  return acceptProxy ? t('ports.proxy.accept') : sendProxy ? t('ports.proxy.send') : '';
}

function Left({ count: left }: { count: number }) {
  const t = useT();
  return (
    <Pill tone={left === 0 ? 'bad' : 'warn'}>
      {left === 0 ? t('ports.limit.full') : t('ports.limit.near', { count: left })}
    </Pill>
  );
}

function First({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(ports.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<ForwardForm siteId={siteId} />, { title: 'ports.create' })}
    >
      {t('ports.create')}
    </Button>
  );
}
