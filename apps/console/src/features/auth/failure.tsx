import { StatusMark } from '../../components/status/status-mark.tsx';
import { explain, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { isDeclined } from '../../lib/passkey.ts';
import classes from './auth.module.css';

export function Failure({ error }: { error: unknown }) {
  const t = useT();
  return (
    <div className={classes['failure']} role="alert">
      <StatusMark tone="bad" />
      <span>{isDeclined(error) ? t('auth.passkeyDeclined') : withCode(explain(error))}</span>
    </div>
  );
}
