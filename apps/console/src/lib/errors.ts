// What a failure says, in one place. The catalogue's phrases are in `locales/<language>/errors.json`, by code.
import { ApiError } from '@edgeloom/contract/client.ts';
import { create } from 'zustand';
import { toast } from '../stores/toasts.ts';
import { useSession } from '../stores/session.ts';
import { duration } from './format.ts';
import { currentLanguage, namesIn, t, tMaybe, type Values, type Word } from './i18n.ts';
import { faultWords } from './provider-words.ts';
import { ChunkTimeout, isTimeout } from './time-limit.ts';

export interface Explained {
  text: string;
  code: number | null;
  reqID: string | null;
  status: number | null;
}

/** A call may say a code in words of its own; null: it says nothing of it. */
export type Overrides = Readonly<Record<number, Word | null>>;

/** A failure in the reader's language; a code without a phrase falls back on the server's own words. */
export function explain(error: unknown, overrides: Overrides = {}): Explained {
  if (!(error instanceof ApiError)) return { text: t(wordOf(error)), code: null, reqID: null, status: null };
  const { code, message, reqID } = error.envelope;
  const override = overrides[code];
  const text = override ? t(override) : (particular(error) ?? phraseOf(error, code) ?? message);
  return { text, code, reqID: reqID || null, status: error.status };
}

/** `fetch` says no more than this of a server that cannot be reached. */
const isOffline = (error: unknown) => error instanceof TypeError;

const wordOf = (error: unknown): Word => {
  if (error instanceof ChunkTimeout) return 'app.chunkTimeout';
  return isOffline(error) ? 'errors.offline' : isTimeout(error) ? 'errors.timeout' : 'errors.generic';
};

/** The server or the network may be back soon: such a call is made again without being asked. */
export const isTemporary = (error: unknown) =>
  isOffline(error) || isTimeout(error) || (error instanceof ApiError && [502, 503, 504].includes(error.status));

/** With its code in brackets, as people name it to support. */
export const withCode = ({ text, code }: Pick<Explained, 'text' | 'code'>) =>
  code === null ? text : t('common.coded', { text, code: String(code) });

/** The phrase of a code alone, without values. */
export const explainCode = (code: number) =>
  tMaybe(`errors.withoutValues.${code}`) ?? phraseWith(code, {}) ?? String(code);

const phraseOf = (error: ApiError, code: number) => phraseWith(code, valuesOf(error));

/** Null where the phrase names a value that is missing. */
function phraseWith(code: number, values: Values) {
  const word = `errors.${code}`;
  return namesIn(word).every((name) => name in values) ? tMaybe(word, values) : null;
}

/** What a phrase may need: the port of 401003, the numbers of the export limits. */
function valuesOf({ envelope: { extra } }: ApiError): Values {
  const given = Object.entries(extra ?? {}).filter((entry): entry is [string, string | number] =>
    ['string', 'number'].includes(typeof entry[1]),
  );
  const num = useSession.getState().account?.maxLogExportTimes ?? 10;
  return { records: 3, num, ...Object.fromEntries(given) };
}

export interface FieldError {
  path: string;
  rule: string;
  message: string;
  /** What the rule's phrase mentions. */
  values?: Values;
}

const isFieldError = (item: unknown): item is FieldError =>
  typeof item === 'object' && item !== null && 'path' in item && 'rule' in item;

export const fieldErrorsOf = (error: unknown): FieldError[] =>
  error instanceof ApiError ? error.envelope.errorData.filter(isFieldError) : [];

/** What is wrong with an input, in words: the rule's phrase, else the message's own, else the message. */
export const ruleText = (rule: string, message: string, values?: Values) =>
  patternText(message) ??
  // A provider's refusal is its own words, or ours about the connection.
  (rule === 'provider' && message !== '' ? faultWords(message) : null) ??
  tMaybe(`errors.messages.${message}`, values) ??
  tMaybe(`errors.rules.${rule}`, values) ??
  faultWords(message);

/** The error of PCRE stays in its words. */
function patternText(message: string) {
  const found = /^(the edge cannot compile it) at character (?<at>\d+): (?<error>.*)$/.exec(message);
  return found && tMaybe(`errors.messages.${found[1]}`, { ...found.groups });
}

const statusRules: Readonly<Record<number, string>> = { 404: 'notFound', 413: 'size', 415: 'contentType', 429: 'rate' };

const ruleOf = (item: unknown) =>
  typeof item === 'object' && item !== null && 'rule' in item && typeof item.rule === 'string' ? item.rule : null;

/** 101003 says which input broke which rule. */
function particular(error: ApiError) {
  if (error.envelope.code !== 101_003) return null;
  const [first] = error.envelope.errorData.filter(isFieldError);
  // What is about no field says its rule alone: still in use, somebody else is at it.
  const rule = first?.rule ?? error.envelope.errorData.map(ruleOf).find(Boolean) ?? statusRules[error.status];
  if (!rule) return null;
  const wait = error.retryAfterSeconds;
  if (rule === 'rate' && wait !== null) return t('errors.rules.rateWait', { wait: duration(wait, currentLanguage()) });
  const text = ruleText(rule, first?.message ?? '', first?.values);
  // The path of an entry of a batch names no field of a form.
  const isField = first?.path && !/^ids\.\d+$/.test(first.path);
  return text && (isField ? `${t('errors.101003')}${t('common.colon')}${first.path} ${text}` : text);
}

export interface Multiple {
  code: number;
  text: string;
  targets: readonly string[];
}
/** The entries of the dialog that 101009 opens; null while it is closed. */
export const useMultiple = create<{ entries: readonly Multiple[] | null }>(() => ({ entries: null }));

interface RefusedEntries {
  code: number;
  rule?: string | undefined;
  message?: string | undefined;
  values?: Values | undefined;
  targets: string[];
}
const isEntry = (item: unknown): item is RefusedEntries =>
  typeof item === 'object' && item !== null && 'code' in item && 'targets' in item && Array.isArray(item.targets);

/** The refused entries of a batch, by cause. */
export const multipleOf = (error: unknown): Multiple[] =>
  error instanceof ApiError && error.envelope.code === 101_009
    ? error.envelope.errorData
        .filter(isEntry)
        .map(({ targets, ...cause }) => ({ code: cause.code, text: causeText(error, cause), targets }))
    : [];

/** The words of a code with its rule, as a batch or a preview names them. */
export function causeText(error: ApiError | null, { code, rule, message, values }: Omit<RefusedEntries, 'targets'>) {
  const own = rule === undefined ? '' : ruleText(rule, message ?? '', values);
  return own || (phraseWith(code, { ...(error && valuesOf(error)), ...values }) ?? explainCode(code));
}

export interface Telling {
  /** What did not happen; the cause follows: 'Create Role Failed !'. */
  failed?: Word | undefined;
  says?: Overrides | undefined;
}

/** Says a failure in the reader's language, with the request id that support will ask for. */
export function toastError(error: unknown, { failed, says }: Telling = {}) {
  const { text, code, reqID } = explain(error, says);
  if (code !== null && says?.[code] === null) return;
  const entries = multipleOf(error);
  if (entries.length > 0) return useMultiple.setState({ entries });
  toast({
    tone: 'bad',
    text: failed ? `${t(failed)} ${text}` : text,
    ...(code !== null && { code }),
    ...(reqID !== null && { reqID }),
  });
}

/** A code that this build has no words for is something to look into. */
export function noteUnmapped(error: unknown) {
  if (error instanceof ApiError && tMaybe(`errors.${error.envelope.code}`) === null)
    console.warn(`Unmapped error code ${error.envelope.code}: ${error.envelope.message} (${error.envelope.reqID})`);
}
