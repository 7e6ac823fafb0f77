import { StatusMark } from '../../components/status/status-mark.tsx';
import type { Explained } from '../../lib/errors.ts';
import classes from './auth.module.css';

export function Failure({ text: { text, code } }: { text: Explained }) {
  return (
    <div className={classes['failure']} role="alert">
      <StatusMark tone="bad" />
      <span>
        {text}
        {code !== null && ` (${code})`}
      </span>
    </div>
  );
}
