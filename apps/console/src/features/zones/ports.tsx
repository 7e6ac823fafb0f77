import { Nothing } from '../../components/values/values.tsx';
import classes from './zones.module.css';

/** Number of ports to list; the rest are counted. */
const SHOWN = 3;

/** `80 443 TLS`: the zone's ports. */
export function Ports({ of }: { of: readonly { port: number; tls: boolean }[] }) {
  if (of.length === 0) return <Nothing />;
  const named = of.map(({ port, tls }) => `${port}${tls ? ' TLS' : ''}`).join(', ');
  return (
    <span className={classes['ports']} title={named}>
      {of.slice(0, SHOWN).map(({ port, tls }) => (
        <span key={port}>
          {port}
          {tls && <small>TLS</small>}
        </span>
      ))}
      {of.length > SHOWN && <small>+{of.length - SHOWN}</small>}
    </span>
  );
}
