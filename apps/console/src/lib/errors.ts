import { ApiError } from '@edgeloom/contract/client.ts';
import { create } from 'zustand';
import { toast } from '../stores/toasts.ts';
import { useSession } from '../stores/session.ts';
import { t, tMaybe, type Values } from './i18n.ts';

export interface Explained {
  text: string;
  code: number | null;
  reqID: string | null;
  status: number | null;
}

/** A failure in the reader's language; a code without a phrase falls back on the server's own words. */
export function explain(error: unknown): Explained {
  if (!(error instanceof ApiError))
    return {
      text: error instanceof TypeError ? t('errors.offline') : t('errors.101002'),
      code: null,
      reqID: null,
      status: null,
    };
  const { code, message, reqID } = error.envelope;
  const known = tMaybe(`errors.${code}`, valuesOf(error));
  const detail = code === 101_003 ? particular(error) : null;
  return { text: detail ?? known ?? message, code, reqID: reqID || null, status: error.status };
}

/** With its code in brackets, as people name it to support. */
export const withCode = ({ text, code }: Pick<Explained, 'text' | 'code'>) =>
  code === null ? text : t('common.coded', { text, code: String(code) });

/** The phrase of a code alone. */
export const explainCode = (code: number) => tMaybe(`errors.${code}`) ?? String(code);

/** What a phrase may need: the port of 401003, the numbers of the export limits. */
function valuesOf({ envelope: { extra } }: ApiError): Values {
  const given = Object.entries(extra ?? {}).filter((entry): entry is [string, string | number] =>
    ['string', 'number'].includes(typeof entry[1]),
  );
  const num = useSession.getState().account?.maxLogExportTimes ?? 10;
  return { port: '', records: 3, num, ...Object.fromEntries(given) };
}

export interface FieldError {
  path: string;
  rule: string;
  message: string;
}

const isFieldError = (item: unknown): item is FieldError =>
  typeof item === 'object' && item !== null && 'path' in item && 'rule' in item;

export const fieldErrorsOf = (error: unknown): FieldError[] =>
  error instanceof ApiError && error.envelope.code === 101_003 ? error.envelope.errorData.filter(isFieldError) : [];

/** What is wrong with an input, in words: the rule's phrase, else the message's own, else the message. */
export const ruleText = (rule: string, message: string, values?: Values) =>
  tMaybe(`errors.messages.${message}`, values) ?? tMaybe(`errors.rules.${rule}`, values) ?? message;

function particular(error: ApiError) {
  const [first] = error.envelope.errorData.filter(isFieldError);
  const rule = first?.rule ?? { 404: 'notFound', 413: 'size', 415: 'contentType', 429: 'rate' }[error.status];
  if (!rule) return null;
  const text = ruleText(rule, first?.message ?? '');
  return text && (first?.path ? `${t('errors.101003')}${t('common.colon')}${first.path} ${text}` : text);
}

export interface Multiple {
  code: number;
  text: string;
  targets: readonly string[];
}
/** The entries of the dialog that 101009 opens; null while it is closed. */
export const useMultiple = create<{ entries: readonly Multiple[] | null }>(() => ({ entries: null }));

const isEntry = (item: unknown): item is { code: number; targets: string[] } =>
  typeof item === 'object' && item !== null && 'code' in item && 'targets' in item && Array.isArray(item.targets);

export const multipleOf = (error: ApiError): Multiple[] =>
  error.envelope.errorData.filter(isEntry).map(({ code, targets }) => ({
    code,
    text: tMaybe(`errors.${code}`, valuesOf(error)) ?? String(code),
    targets,
  }));

/** Says a failure in the reader's language, with the request id that support will ask for. */
export function toastError(error: unknown) {
  const { text, code, reqID } = explain(error);
  if (error instanceof ApiError && code === 101_009) return useMultiple.setState({ entries: multipleOf(error) });
  toast({ tone: 'bad', text, ...(code !== null && { code }), ...(reqID !== null && { reqID }) });
}
