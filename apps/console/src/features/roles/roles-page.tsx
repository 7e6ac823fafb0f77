import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconTrash, IconUserShield } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { does, edit } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { permissionsInWords } from '../../lib/permissions.ts';
import { useCan } from '../../lib/use-can.ts';
import { useSession } from '../../stores/session.ts';
import { RoleForm, type Role } from './role-form.tsx';

const inWords = ({ permissions }: Role) => permissionsInWords(permissions);

const columns: Column<Role>[] = [
  { key: 'name', render: (role) => <Name role={role} />, text: ({ name }) => name },
  {
    key: 'permissions',
    render: (role) => <span title={inWords(role)}>{inWords(role)}</span>,
    text: inWords,
    sort: false,
    flexible: true,
  },
  { key: 'accountCount', as: 'count', sort: false },
  { key: 'updatedAt', as: 'time', priority: 2 },
];
const removing = does<Role, typeof roles.remove>(roles.remove, {
  label: 'common.remove',
  icon: IconTrash,
  danger: true,
  done: 'roles.removed',
  failed: 'roles.removeFailed',
  refreshes: ['accounts'],
  confirm: () => ({}),
  send: ([role]) => ({ params: { id: role?.id ?? '' } }),
});

export function RolesPage() {
  const own = useSession((session) => session.account?.permissions) ?? [];
  // The server rejects changes of one's own role and of roles with more permissions.
  const isWithin = ({ mine, permissions }: Role) => !mine && permissions.every((one) => own.includes(one));
  return (
    <Page title="roles.title" create={<RoleForm />} creates={roles.create}>
      <ResourceTable
        endpoint={roles.list}
        columns={columns}
        search="name"
        row={(role) =>
          isWithin(role)
            ? [edit(<RoleForm value={role} />, { title: 'roles.edit', can: roles.update.can }), removing]
            : []
        }
        phone={(role) => ({ below: inWords(role), end: null })}
        empty={{ icon: IconUserShield, action: <First /> }}
      />
    </Page>
  );
}

function Name({ role: { name, mine } }: { role: Role }) {
  const t = useT();
  return (
    <>
      {name} {mine && <Pill tone="off">{t('roles.yours')}</Pill>}
    </>
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(roles.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<RoleForm />, { title: 'roles.create' })}
    >
      {t('roles.create')}
    </Button>
  );
}
