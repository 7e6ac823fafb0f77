import type { overview } from '@edgeloom/contract/overview/overview.calls.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { Await } from '../../components/states/await.tsx';
import { to as inConsole } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import classes from './dashboard.module.css';

type Reply = Received<typeof overview.get>;

/** During an upgrade, an API of the release before does not send the waiting changes. */
export type Overview = Omit<Reply, 'waitingChanges'> & Partial<Pick<Reply, 'waitingChanges'>>;

/** Counts of operators, customers, sites, domains and nodes. */
export function InstallationFigures({ found }: { found: Result<Overview> }) {
  return (
    <div className={classes['cards']}>
      <Await result={found}>{(data) => <Figures {...data} />}</Await>
    </div>
  );
}

function Figures({ customers, nodes: { online, offline, disabled } }: Overview) {
  const t = useT();
  const nodes = online + offline + disabled;
  const blocked = customers?.blockedOperators ?? 0;
  return (
    <dl className={classes['figures']}>
      {customers && (
        <>
          <Figure
            term={t('dashboard.figures.operators')}
            to="userManagement/users"
            note={blocked > 0 && t('dashboard.figures.blocked', { count: blocked, rows: count(blocked) })}
          >
            {count(customers.operators)}
          </Figure>
          <Figure term={t('dashboard.figures.users')} to="userManagement/users?tab=users">
            {count(customers.users)}
          </Figure>
          <Figure term={t('dashboard.figures.sites')}>{count(customers.sites)}</Figure>
          <Figure term={t('dashboard.figures.domains')}>{count(customers.domains)}</Figure>
        </>
      )}
      <Figure
        term={t('dashboard.figures.nodes')}
        note={nodes > 0 && t('dashboard.figures.ofNodes', { count: nodes, rows: count(nodes) })}
      >
        {count(online)}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  term: string;
  to?: string;
  note?: ReactNode;
  children: string;
}

function Figure({ term, to, note, children }: FigureProps) {
  return (
    <div className={classes['figure']}>
      <dt>{term}</dt>
      <dd>{to === undefined ? children : <Link to={inConsole(to)}>{children}</Link>}</dd>
      {note ? <dd className={classes['note']}>{note}</dd> : null}
    </div>
  );
}
