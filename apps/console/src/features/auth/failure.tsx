import { StatusMark } from '../../components/status/status-mark.tsx';
import { withCode, type Explained } from '../../lib/errors.ts';
import classes from './auth.module.css';

export function Failure({ explained }: { explained: Explained }) {
  return (
    <div className={classes['failure']} role="alert">
      <StatusMark tone="bad" />
      <span>{withCode(explained)}</span>
    </div>
  );
}
