import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Switch } from '@mantine/core';
import { IconPlus, IconWorldWww } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { go, remove, type BulkAction } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { domainAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { AddDomains } from './add-domains.tsx';
import { Below, cert, cname, filters, origins, tags, updated } from './domain-columns.tsx';
import type { Domain } from './origins-draft.ts';
import { off, on, useSwitchDomain } from './switch-domains.ts';

const removing = remove<Domain, typeof domains.remove>(domains.remove, {
  refreshes: ['sites'],
  applies: ({ status }) => status === 0,
  confirm: () => ({ points: [t('domains.removePoint'), t('common.confirm.final')] }),
});

const bulk: BulkAction<Domain>[] = [on, off, removing];

/** The domains of one site. */
export function DomainsPage() {
  const { id, name, domainLimit: limit, domainCount } = useSite();
  const left = limit === 0 ? null : Math.max(0, limit - domainCount);
  // Tags have no call of their own yet: those of the rows on screen can be filtered by.
  const [known, setKnown] = useState<readonly string[]>([]);
  const columns = useMemo<Column<Domain>[]>(
    () => [
      { key: 'name', to: (domain) => domainAddress({ id, name }, domain.name) },
      {
        key: 'status',
        sort: false,
        render: (domain) => <OnOff domain={domain} />,
        text: ({ status }) => t(status === 1 ? 'common.on' : 'common.off'),
      },
      cname,
      cert,
      origins,
      tags,
      updated,
    ],
    [id, name],
  );
  return (
    <Page
      title="domains.title"
      // At the limit the way on is told instead of offered.
      {...(left !== 0 && { create: <AddDomains siteId={id} />, creates: domains.createSimple })}
      facts={left !== null && left <= limit * 0.2 && <Left count={left} />}
    >
      <ResourceTable
        endpoint={domains.list}
        params={{ siteId: id }}
        columns={columns}
        search="keywords"
        filters={known.length > 0 ? [...filters, { key: 'tags', choices: known, many: true }] : filters}
        counted={(total, rows) => {
          setKnown((before) => withTags(before, rows));
          return limit === 0
            ? t('domains.count', { count: total })
            : t('domains.countOf', { count: count(total), limit: count(limit) });
        }}
        row={(domain) => [
          go({ label: 'domains.open', to: domainAddress({ id, name }, domain.name) }),
          domain.status === 1 ? off : on,
          removing,
        ]}
        bulk={bulk}
        phone={(domain) => ({ below: <Below domain={domain} />, end: <OnOff domain={domain} /> })}
        empty={{ icon: IconWorldWww, action: <First siteId={id} /> }}
      />
    </Page>
  );
}

function Left({ count: left }: { count: number }) {
  const t = useT();
  return (
    <Pill tone={left === 0 ? 'bad' : 'warn'}>
      {left === 0 ? t('domains.limit.full') : t('domains.limit.near', { count: left })}
    </Pill>
  );
}

/** The same list when there is no new one, so that nothing is drawn anew. */
function withTags(known: readonly string[], rows: readonly Domain[]) {
  const all = [...new Set([...known, ...rows.flatMap(({ tags: of }) => of)])].toSorted();
  return all.length === known.length ? known : all;
}

function OnOff({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const { turn, running } = useSwitchDomain(domain);
  return (
    <Switch
      aria-label={t('domains.switchLabel', { name: domain.name })}
      checked={domain.status === 1}
      disabled={running || !can(domains.status)}
      onChange={(event) => void turn(event.currentTarget.checked)}
    />
  );
}

function First({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(domains.createSimple)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<AddDomains siteId={siteId} />, { title: 'domains.create' })}
    >
      {t('domains.create')}
    </Button>
  );
}
