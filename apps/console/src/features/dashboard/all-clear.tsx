import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import classes from './dashboard.module.css';

interface AllClearProps<T> {
  /** The resources of the account. */
  of: Result<T>;
  isEmpty: (found: T) => boolean;
}

/** Shown when nothing needs attention. Without anything to watch, "all clear" would be wrong. */
export function AllClear<T>({ of, isEmpty }: AllClearProps<T>) {
  const t = useT();
  return (
    <Await result={of}>
      {(found) => (
        <p className={classes['well']}>
          <StatusMark tone={isEmpty(found) ? 'off' : 'ok'} />
          {t(isEmpty(found) ? `dashboard.nothingYet.${family}` : 'dashboard.allWell')}
        </p>
      )}
    </Await>
  );
}
