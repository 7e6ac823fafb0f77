import { Nothing } from '../../components/values/values.tsx';
import classes from './zones.module.css';

/** `80 443 TLS`: what nodes listen on. */
export function Ports({ of }: { of: readonly { port: number; tls: boolean }[] }) {
  if (of.length === 0) return <Nothing />;
  return (
    <span className={classes['ports']}>
      {of.map(({ port, tls }) => (
        <span key={port}>
          {port}
          {tls && <small>TLS</small>}
        </span>
      ))}
    </span>
  );
}
