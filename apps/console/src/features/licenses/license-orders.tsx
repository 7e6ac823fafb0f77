import { operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { IconLicense } from '@tabler/icons-react';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Time } from '../../components/values/values.tsx';
import { t } from '../../lib/i18n.ts';
import { termColumns, termOf } from './terms.tsx';

/** Each license that was issued to an operator. */
export function LicenseOrders({ accountID }: { accountID: string }) {
  return (
    <ResourceTable
      endpoint={operatorLicenses.orders}
      params={{ userId: accountID }}
      words="licenseOrders"
      sort="-createdAt"
      columns={[
        { key: 'name' },
        { key: 'createdAt', as: 'time' },
        ...termColumns<RowOf<typeof operatorLicenses.orders>>(),
        { key: 'endsAt', render: ({ endsAt }) => (endsAt === null ? t('licenses.never') : <Time at={endsAt} />) },
        { key: 'createdByName', priority: 2 },
      ]}
      phone={({ createdAt, days }) => ({ below: <Time at={createdAt} />, end: termOf(days) })}
      empty={{ icon: IconLicense }}
    />
  );
}
