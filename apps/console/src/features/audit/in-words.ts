// The actor and the result of a call, in words.
import { rawPhrase, namesIn, t, tMaybe } from '../../lib/i18n.ts';
import { isFailed, type AuditRow } from './sentence.ts';

/** "Wang as Lin": the person who acts as another account is named first. */
export function actorOf({ accountName, email, proxyName }: AuditRow): string {
  const account = accountName || email || t('audit.unknownActor');
  return proxyName === '' ? account : t('audit.as', { name: proxyName, account });
}

/** Empty for a successful call. */
export function resultOf(row: AuditRow, isShort = false): string {
  if (row.status === 0) return t(isShort ? 'audit.interruptedShort' : 'audit.interrupted');
  if (!isFailed(row)) return '';
  return isShort ? t('audit.failed') : `${t('audit.failed')}${t('common.colon')}${reasonOf(row)}`;
}

/** The phrase of the error code; the status where there is none, or where a value of the phrase is missing. */
export function reasonOf({ code, status, values }: AuditRow): string {
  const word = `errors.${code}`;
  const known = rawPhrase(word) !== null && namesIn(word).every((name) => name in values);
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  return (known && tMaybe(word, texts)) || t('audit.statusOnly', { status });
}
