import type { GroupOf } from '../../components/resource-table/resource-table.tsx';
import { t } from '../../lib/i18n.ts';
import classes from './sites.module.css';

interface OfProduct {
  productID: string;
  productName: string;
}

/** The server sorts sites by product. */
export const grouping = { groupBy: 'product' } as const;

/** Sites grouped by product. */
export const byProduct: GroupOf<OfProduct> = {
  by: ({ productID }) => productID,
  label: (_, rows, count) => (
    <>
      <b>{rows[0]?.productName}</b>
      <span className={classes['tally']}>{t('sites.group', { count })}</span>
    </>
  ),
};
