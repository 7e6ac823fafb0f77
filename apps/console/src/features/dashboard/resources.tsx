import { Fragment } from 'react';
import { Link } from 'react-router-dom';
import { to as inConsole } from '../../lib/family.ts';
import { count as formatted } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './dashboard.module.css';

interface Resource {
  kind: 'zones' | 'nodes' | 'products' | 'sites' | 'domains';
  /** Null or undefined: unknown, and left out. */
  count: number | null | undefined;
  to?: string;
}

/** "12 sites · 214 domains", each a link to its list. */
export function Resources({ of }: { of: readonly Resource[] }) {
  const t = useT();
  const known = of.flatMap(({ count, ...resource }) => (count == null ? [] : [{ ...resource, count }]));
  if (known.length === 0) return null;
  return (
    <span className={classes['count']}>
      {known.map(({ kind, count, to }, i) => {
        const text = t(`dashboard.resources.${kind}`, { count, rows: formatted(count) });
        return (
          <Fragment key={kind}>
            {i > 0 && ' · '}
            {to === undefined ? text : <Link to={inConsole(to)}>{text}</Link>}
          </Fragment>
        );
      })}
    </span>
  );
}
