// Describes pending states of a domain and their next check.
import { clock } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';
import type { Domain } from './origins-draft.ts';

type State = Pick<Domain, 'status' | 'cnameStatus' | 'cnameCheckAt' | 'certStatus' | 'certCheckAt'>;

/** Today's time as hours and minutes; null once it has passed. */
function soon(at: string | Date | null): string | null {
  const date = at === null ? null : new Date(at);
  return date === null || date.getTime() <= Date.now() ? null : clock(date).slice(0, 5);
}
const joined = (...parts: (string | null)[]) => parts.filter((part) => part !== null).join(t('common.comma')) || null;

/** Next CNAME check, unless the record is correct. */
export function cnameNext({ cnameStatus, cnameCheckAt }: State): string | null {
  if (cnameStatus === 'active') return null;
  const time = soon(cnameCheckAt);
  if (time !== null) return t('domains.waits.checked', { time });
  return cnameStatus === 'pendingCheck' ? t('domains.waits.shortly') : null;
}

/** Next step of a pending certificate. */
export function certNext({ certStatus, certCheckAt, cnameStatus }: State): string | null {
  const time = soon(certCheckAt);
  const next = time && t('domains.waits.tried', { time });
  if (certStatus === 'fail') return next;
  if (certStatus !== 'processing') return null;
  return joined(t(cnameStatus === 'active' ? 'domains.waits.authority' : 'domains.waits.cname'), next);
}

export const isPending = ({ cnameStatus, certStatus }: Pick<State, 'cnameStatus' | 'certStatus'>) =>
  cnameStatus === 'pendingCheck' || certStatus === 'processing';
