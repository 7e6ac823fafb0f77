import { operatorLicenses } from '@edgeloom/contract/licenses/licenses.calls.ts';
import { accounts } from '@edgeloom/contract/accounts/accounts.calls.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Status } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { to as inConsole } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './dashboard.module.css';
import { FormLink } from './form-link.tsx';

const USERS = 'userManagement/users';
const limited = ['sites', 'domains', 'nodes'] as const;
/** A phone shows the sites only. */
const classOf = (thing: (typeof limited)[number]) =>
  thing === 'sites' ? classes['number'] : `${classes['number']} ${classes['wide']}`;

type Operator = Received<typeof operatorLicenses.list>['data'][number];

/** The operators whose licenses end first, with usage and limits. */
export function Operators() {
  const t = useT();
  const result = useEndpoint(operatorLicenses.list, {}, { pollMs: 60_000 });
  return (
    <section className={classes['panel']} aria-label={t('dashboard.operators.title')}>
      <header className={classes['panelHead']}>
        <h2>{t('dashboard.operators.title')}</h2>
        {result.data !== undefined && result.data.total > 0 && (
          <Link to={inConsole(USERS)}>
            {t('dashboard.operators.all', { count: result.data.total, rows: count(result.data.total) })}
          </Link>
        )}
      </header>
      <Await result={result}>{({ data }) => (data.length === 0 ? <NoOperators /> : <Licenses of={data} />)}</Await>
    </section>
  );
}

function NoOperators() {
  const t = useT();
  const can = useCan();
  return (
    <EmptyState
      icon={IconUsers}
      title={t('dashboard.operators.none')}
      text={t('dashboard.operators.noneWhy')}
      action={
        can(accounts.create) && (
          <Button component={FormLink} to={USERS} opensForm leftSection={<IconPlus size={15} stroke={1.8} />}>
            {t('accounts.adding.operators')}
          </Button>
        )
      }
    />
  );
}

function Licenses({ of }: { of: readonly Operator[] }) {
  const t = useT();
  return (
    <table className={classes['operators']}>
      <thead>
        <tr>
          <th scope="col">{t('dashboard.operators.name')}</th>
          {limited.map((thing) => (
            <th key={thing} scope="col" className={classOf(thing)}>
              {t(`licenses.${thing}`)}
            </th>
          ))}
          <th scope="col" className={classes['number']}>
            {t('dashboard.operators.endsAt')}
          </th>
        </tr>
      </thead>
      <tbody>
        {of.map((operator) => (
          <tr key={operator.accountID}>
            <th scope="row">
              <Link to={inConsole(`${USERS}/${operator.accountID}`)}>{operator.clientName}</Link>
              {operator.status !== 'normal' && <Status kind="account" value={operator.status} />}
            </th>
            {limited.map((thing) => (
              <td key={thing} className={classOf(thing)}>
                <Usage of={operator} thing={thing} />
              </td>
            ))}
            <td className={classes['number']}>
              {operator.endsAt === null ? t('licenses.never') : <Time at={operator.endsAt} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Usage({ of: { uses, limits }, thing }: { of: Operator; thing: (typeof limited)[number] }) {
  const t = useT();
  if (limits[thing] === 0) return <>{count(uses[thing])}</>;
  return <>{t('licenses.ofLimit', { count: count(uses[thing]), limit: count(limits[thing]) })}</>;
}
