// The actor and the result of an action, in words.
import { count } from '../../lib/format.ts';
import { rawPhrase, namesIn, t, tMaybe } from '../../lib/i18n.ts';
import { isFailed, type LoggedAction } from './sentence.ts';

/** "Wang as Lin": the person who acts as another account is named first. */
export function actorOf({ accountName, email, proxyName }: LoggedAction): string {
  const account = accountName || email || t('audit.unknownActor');
  return proxyName === '' ? account : t('audit.as', { name: proxyName, account });
}

/** Empty for a successful action. */
export function resultOf(row: LoggedAction, isShort = false): string {
  if (isPartlyFailed(row))
    return isShort
      ? t('audit.partlyFailed')
      : t('audit.callsFailed', { failed: count(row.failedCount), calls: count(row.callCount) });
  if (row.status === 0) return t(isShort ? 'audit.interruptedShort' : 'audit.interrupted');
  if (!isFailed(row)) return '';
  return isShort ? t('audit.failed') : `${t('audit.failed')}${t('common.colon')}${reasonOf(row)}`;
}

/** Whether only some of the calls failed. */
export const isPartlyFailed = ({ callCount, failedCount }: LoggedAction) => failedCount > 0 && failedCount < callCount;

/** The phrase of the error code. The status if there is no phrase, or a value of it is missing. */
export function reasonOf({ code, status, values }: LoggedAction): string {
  const phrase = `errors.${code}`;
  const isComplete = rawPhrase(phrase) !== null && namesIn(phrase).every((name) => name in values);
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  return (isComplete && tMaybe(phrase, texts)) || t('audit.statusOnly', { status });
}
