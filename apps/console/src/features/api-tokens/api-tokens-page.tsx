import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button } from '@mantine/core';
import { IconApi, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { permissionsInWords } from '../../lib/permissions.ts';
import { useCan } from '../../lib/use-can.ts';
import { ApiTokenForm } from './api-token-form.tsx';

type ApiToken = RowOf<typeof apiTokens.list>;

const inWords = ({ permissions }: ApiToken) => permissionsInWords(permissions);
const addressesOf = ({ cidrs }: ApiToken) =>
  cidrs.length === 0 ? t('apiTokens.everywhere') : cidrs.join(t('common.comma'));

const columns: Column<ApiToken>[] = [
  { key: 'name' },
  {
    key: 'permissions',
    render: (token) => <span title={inWords(token)}>{inWords(token)}</span>,
    text: inWords,
    sort: false,
    flexible: true,
  },
  { key: 'cidrs', render: addressesOf, sort: false, priority: 2 },
  { key: 'expiresAt', render: (token) => <Ends at={token.expiresAt} />, as: 'time' },
  { key: 'lastUsedAt', render: (token) => <LastUsed at={token.lastUsedAt} />, as: 'time' },
  { key: 'createdAt', as: 'time', priority: 3 },
];
const revoking = remove<ApiToken, typeof apiTokens.remove>(apiTokens.remove, {
  label: 'apiTokens.revoke',
  done: 'apiTokens.revoked',
  confirm: () => ({ points: [t('apiTokens.revokePoints'), t('shared.confirm.final')] }),
});

export function ApiTokensPage() {
  return (
    <Page title="apiTokens.title" create={<ApiTokenForm />} creates={apiTokens.create}>
      <ResourceTable
        endpoint={apiTokens.list}
        sort="-createdAt"
        columns={columns}
        row={() => [revoking]}
        bulk={[revoking]}
        phone={(token) => ({ below: inWords(token), end: <Ends at={token.expiresAt} /> })}
        empty={{ icon: IconApi, action: <First /> }}
      />
    </Page>
  );
}

function Ends({ at }: { at: string | null }) {
  const t = useT();
  const [now] = useState(() => Date.now());
  if (at === null) return t('apiTokens.lives.never');
  if (Date.parse(at) <= now) return <Pill tone="off">{t('apiTokens.expired')}</Pill>;
  return <Time at={at} />;
}

function LastUsed({ at }: { at: string | null }) {
  const t = useT();
  return at === null ? t('apiTokens.never') : <Time at={at} />;
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(apiTokens.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<ApiTokenForm />, { title: 'apiTokens.create' })}
    >
      {t('apiTokens.create')}
    </Button>
  );
}
