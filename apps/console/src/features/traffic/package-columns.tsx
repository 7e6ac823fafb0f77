import type { trafficPackages } from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { IconGauge } from '@tabler/icons-react';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { Status } from '../../components/status/status.tsx';
import { t } from '../../lib/i18n.ts';
import { UsageBar } from './usage-bar.tsx';

export type TrafficPackage = RowOf<typeof trafficPackages.list>;
/** Without what only operators see. */
type OwnTrafficPackage = Omit<TrafficPackage, 'memo'>;

export const icon = IconGauge;
const productOf = ({ productID, productName }: OwnTrafficPackage) =>
  productID === null ? t('trafficPackages.allProducts') : (productName ?? productID);
const stateOf = ({ state }: OwnTrafficPackage) => <Status kind="trafficPackage" value={state} />;

export const packageColumns: Column<OwnTrafficPackage>[] = [
  { key: 'productName', sort: false, render: productOf },
  { key: 'type', sort: false, render: ({ type }) => t(`trafficPackages.types.${type}`) },
  { key: 'state', sort: false, render: stateOf },
  {
    key: 'usedBytes',
    sort: false,
    render: ({ usedBytes, bytes: size, state }) => <UsageBar used={usedBytes} size={size} state={state} />,
    text: ({ usedBytes }) => String(usedBytes),
  },
  { key: 'bytes', as: 'bytes', sort: false, hidden: true, inFile: true },
  { key: 'startsAt', as: 'time', priority: 2 },
  { key: 'endsAt', as: 'time', priority: 2 },
];

export const packageOnPhone = (row: OwnTrafficPackage) => ({
  name: productOf(row),
  below: <UsageBar used={row.usedBytes} size={row.bytes} state={row.state} />,
  end: stateOf(row),
});
