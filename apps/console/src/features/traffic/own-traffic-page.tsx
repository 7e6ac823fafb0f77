import { ownTrafficPackages, ownTrafficUsage } from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { Page } from '../../components/page/page.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useT } from '../../lib/i18n.ts';
import { icon, packageColumns, packageOnPhone } from './package-columns.tsx';
import { MonthOf } from './month-of.tsx';
import classes from './traffic.module.css';

/** The customer's traffic packages, and its traffic by month. */
export function OwnTrafficPage() {
  const t = useT();
  return (
    <Page title="trafficPackages.title">
      <ResourceTable
        endpoint={ownTrafficPackages.list}
        words="trafficPackages"
        columns={packageColumns}
        search="productName"
        sort="-createdAt"
        phone={packageOnPhone}
        empty={{ icon, text: 'trafficPackages.empty.own' }}
      />
      <h2 className={classes['section']}>{t('trafficUsage.months')}</h2>
      <MonthOf endpoint={ownTrafficUsage.months} />
    </Page>
  );
}
