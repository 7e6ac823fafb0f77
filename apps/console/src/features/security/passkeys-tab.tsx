import { passkeys } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button } from '@mantine/core';
import { IconFingerprint, IconPlus, IconTrash } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { call } from '../../lib/api.ts';
import { useT } from '../../lib/i18n.ts';
import { addPasskey, canPasskey } from '../../lib/passkey.ts';
import { ProveForm } from './prove-form.tsx';
import classes from './security.module.css';

type Passkey = RowOf<typeof passkeys.list>;

const columns: Column<Passkey>[] = [
  { key: 'name' },
  { key: 'createdAt', as: 'time' },
  { key: 'lastUsedAt', as: 'time', sort: false },
];

export function PasskeysTab() {
  const t = useT();
  return (
    <>
      <div className={classes['block']}>
        <p className={classes['quiet']}>{t('security.passkeysWhy')}</p>
        {canPasskey() ? <Add /> : <p className={classes['quiet']}>{t('security.passkeysByName')}</p>}
      </div>
      <ResourceTable
        endpoint={passkeys.list}
        words="security"
        columns={columns}
        row={(passkey) => [
          open({
            label: 'common.remove',
            title: 'security.removePasskey',
            icon: IconTrash,
            element: <Removal passkey={passkey} />,
          }),
        ]}
        phone={() => ({ below: null, end: null })}
        empty={{ icon: IconFingerprint }}
      />
    </>
  );
}

function Add() {
  const t = useT();
  const overlay = useOverlay();
  const form = <ProveForm named verb="security.addPasskey" done="security.passkeyAdded" run={addPasskey} />;
  return (
    <Button
      data-creates="passkey"
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(form, { title: 'security.addPasskey' })}
    >
      {t('security.addPasskey')}
    </Button>
  );
}

const Removal = ({ passkey }: { passkey: Passkey }) => (
  <ProveForm
    danger
    verb="security.removePasskey"
    done="security.passkeyRemoved"
    run={(verifyToken) => call(passkeys.remove, { body: { ids: [passkey.id], verifyToken } })}
  />
);
