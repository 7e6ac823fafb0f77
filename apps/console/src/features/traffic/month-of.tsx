import type { ownTrafficUsage, trafficUsage } from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import type { MonthlyUsage } from '@edgeloom/contract/traffic/traffic.ts';
import { Select } from '@mantine/core';
import { useState, type ComponentType } from 'react';
import { Await } from '../../components/states/await.tsx';
import { Pill, Status } from '../../components/status/status.tsx';
import { Bytes, Nothing } from '../../components/values/values.tsx';
import { family } from '../../lib/family.ts';
import { money } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { currentMonth, monthName, monthsUntil, type Month } from './months.ts';
import classes from './traffic.module.css';

const MONTHS = 24;

/** The report's file has all. */
const ROWS = 500;

interface MonthOfProps {
  endpoint: typeof ownTrafficUsage.months | typeof trafficUsage.months;
  /** Beside the month. */
  Tools?: ComponentType<{ month: Month }>;
}

/** Traffic and price of the chosen month. */
export function MonthOf({ endpoint, Tools }: MonthOfProps) {
  const t = useT();
  const [current] = useState(() => currentMonth(Date.now()));
  const [month, setMonth] = useState(current);
  const months = monthsUntil(current, MONTHS);
  const result = useEndpoint(endpoint, { query: { ...month, pageSize: ROWS } });
  return (
    <section className={classes['month']}>
      <div className={classes['head']}>
        <Select
          aria-label={t('trafficUsage.month')}
          data={months.map(monthName)}
          value={monthName(month)}
          allowDeselect={false}
          onChange={(name) => setMonth(months.find((each) => monthName(each) === name) ?? current)}
        />
        {result.data && (
          <Pill tone={result.data.gotReport ? 'ok' : 'busy'}>
            {t(`trafficUsage.finality.${result.data.notFinalReason ?? 'final'}`)}
          </Pill>
        )}
        {Tools && <Tools month={month} />}
      </div>
      <Await result={result}>
        {({ list, total }) =>
          list.length === 0 ? (
            <p className={classes['note']}>{t('trafficUsage.none')}</p>
          ) : (
            <>
              <Rows of={list} isWhole={list.length === total} />
              {list.length < total && (
                <p className={classes['note']}>{t('trafficUsage.largest', { count: list.length })}</p>
              )}
            </>
          )
        }
      </Await>
      <p className={classes['note']}>{t('trafficUsage.how')}</p>
    </section>
  );
}

/** Customers see no names of customers. */
const hasCustomers = family === 'client';
const numbers = ['bytes', 'packageBytes', 'overBytes'] as const;

const nameOf = ({ userID, userName }: MonthlyUsage) =>
  userName ?? t(userID === null ? 'trafficUsage.own' : 'trafficUsage.removed');

interface RowsProps {
  of: readonly MonthlyUsage[];
  /** A sum of some rows would be taken for the month's. */
  isWhole: boolean;
}

function Rows({ of, isWhole }: RowsProps) {
  return usePhone() ? <PhoneRows of={of} /> : <UsageTable of={of} isWhole={isWhole} />;
}

function PhoneRows({ of: list }: { of: readonly MonthlyUsage[] }) {
  const t = useT();
  return (
    <ul className={classes['phone']}>
      {list.map((row) => (
        <li key={`${row.userID} ${row.productID}`}>
          <p>
            <b>{[...(hasCustomers ? [nameOf(row)] : []), row.productName ?? row.productID].join(' · ')}</b>
            {row.state !== null && <Status kind="traffic" value={row.state} />}
          </p>
          <dl>
            {numbers.map((name) => (
              <div key={name}>
                <dt>{t(`trafficUsage.fields.${name}`)}</dt>
                <dd>
                  <Bytes of={row[name]} />
                </dd>
              </div>
            ))}
            <div>
              <dt>{t('products.price', { price: money(row.priceCents) })}</dt>
              <dd>{money(row.amountCents)}</dd>
            </div>
          </dl>
        </li>
      ))}
    </ul>
  );
}

function UsageTable({ of: list, isWhole }: RowsProps) {
  const t = useT();
  const sumOf = (name: (typeof numbers)[number] | 'amountCents') => list.reduce((sum, row) => sum + row[name], 0);
  return (
    <div className={classes['wide']}>
      <table className={classes['table']}>
        <thead>
          <tr>
            {hasCustomers && <th scope="col">{t('trafficUsage.fields.userName')}</th>}
            <th scope="col">{t('trafficUsage.fields.productName')}</th>
            <th scope="col">{t('trafficUsage.fields.state')}</th>
            {[...numbers, 'priceCents' as const, 'amountCents' as const].map((name) => (
              <th key={name} scope="col" className={classes['number']}>
                {t(`trafficUsage.fields.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map((row) => (
            <tr key={`${row.userID} ${row.productID}`}>
              {hasCustomers && <th scope="row">{nameOf(row)}</th>}
              <td>{row.productName ?? row.productID}</td>
              <td>{row.state === null ? <Nothing /> : <Status kind="traffic" value={row.state} />}</td>
              {numbers.map((name) => (
                <td key={name} className={classes['number']}>
                  <Bytes of={row[name]} />
                </td>
              ))}
              <td className={classes['number']}>{t('products.price', { price: money(row.priceCents) })}</td>
              <td className={classes['number']}>{money(row.amountCents)}</td>
            </tr>
          ))}
        </tbody>
        {isWhole && (
          <tfoot>
            <tr>
              <th scope="row" colSpan={hasCustomers ? 3 : 2}>
                {t('trafficUsage.total')}
              </th>
              {numbers.map((name) => (
                <td key={name} className={classes['number']}>
                  <Bytes of={sumOf(name)} />
                </td>
              ))}
              <td className={classes['number']} colSpan={2}>
                {money(sumOf('amountCents'))}
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
