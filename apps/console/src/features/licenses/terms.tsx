import type { LicenseOrder } from '@edgeloom/contract/licenses/licenses.ts';
import type { Column } from '../../components/resource-table/columns.tsx';
import { Limit } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';

type Terms = Pick<
  LicenseOrder,
  'days' | 'siteLimit' | 'nodeLimit' | 'zoneLimit' | 'domainLimit' | 'autoCertificateLimit' | 'layer4'
>;

/** `365 days` */
export const termOf = (days: number) =>
  days === 0 ? t('licenseOffers.forever') : t('licenseOffers.term', { count: days, number: count(days) });

/** Columns of offers and of issued licenses. */
export const termColumns = <Row extends Terms>(): Column<Row>[] => [
  { key: 'days', title: 'licenseOffers.fields.days', align: 'right', render: ({ days }) => termOf(days) },
  {
    key: 'siteLimit',
    title: 'licenseOffers.fields.siteLimit',
    align: 'right',
    render: ({ siteLimit }) => <Limit of={siteLimit} />,
  },
  {
    key: 'domainLimit',
    title: 'licenseOffers.fields.domainLimit',
    align: 'right',
    render: ({ domainLimit }) => <Limit of={domainLimit} />,
  },
  {
    key: 'nodeLimit',
    title: 'licenseOffers.fields.nodeLimit',
    align: 'right',
    render: ({ nodeLimit }) => <Limit of={nodeLimit} />,
    priority: 2,
  },
  {
    key: 'zoneLimit',
    title: 'licenseOffers.fields.zoneLimit',
    align: 'right',
    render: ({ zoneLimit }) => <Limit of={zoneLimit} />,
    priority: 2,
  },
  {
    key: 'autoCertificateLimit',
    title: 'licenseOffers.fields.autoCertificateLimit',
    align: 'right',
    render: ({ autoCertificateLimit }) => <Limit of={autoCertificateLimit} />,
    priority: 2,
  },
  {
    key: 'layer4',
    title: 'licenseOffers.fields.layer4',
    render: ({ layer4 }) => t(layer4 ? 'licenses.allowed' : 'licenses.notAllowed'),
    priority: 2,
  },
];
