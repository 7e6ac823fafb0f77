// Error messages. Phrases by code are in `locales/<language>/errors.json`.
import { ApiError } from '@edgeloom/contract/client.ts';
import { create } from 'zustand';
import { toast } from '../stores/toasts.ts';
import { useSession } from '../stores/session.ts';
import { duration, time } from './format.ts';
import { currentLanguage, namesIn, t, tMaybe, type Values, type Word } from './i18n.ts';
import { faultWords } from './provider-words.ts';
import { ChunkTimeout, isTimeout } from './time-limit.ts';

export interface Explained {
  text: string;
  code: number | null;
  reqID: string | null;
  status: number | null;
}

/** Message overrides of a call by code; null suppresses the message. */
export type Overrides = Readonly<Record<number, Word | null>>;

/** The message in the reader's language. Codes without a phrase show the server's message. */
export function explain(error: unknown, overrides: Overrides = {}): Explained {
  if (!(error instanceof ApiError)) return { text: t(wordOf(error)), code: null, reqID: null, status: null };
  const { code, message, reqID } = error.envelope;
  const override = overrides[code];
  const text = override
    ? t(override)
    : (installationLimit(error) ?? particular(error) ?? phraseOf(error, code) ?? message);
  return { text, code, reqID: reqID || null, status: error.status };
}

/** `fetch` throws TypeError when the server cannot be reached. */
const isOffline = (error: unknown) => error instanceof TypeError;

const wordOf = (error: unknown): Word => {
  if (error instanceof ChunkTimeout) return 'app.chunkTimeout';
  return isOffline(error) ? 'errors.offline' : isTimeout(error) ? 'errors.timeout' : 'errors.generic';
};

/** Server or network errors that may resolve soon; such calls are retried. */
export const isTemporary = (error: unknown) =>
  isOffline(error) || isTimeout(error) || (error instanceof ApiError && [502, 503, 504].includes(error.status));

/** With the code in brackets, for support requests. */
export const withCode = ({ text, code }: Pick<Explained, 'text' | 'code'>) =>
  code === null ? text : t('common.coded', { text, code: String(code) });

/** Phrase of a code without values. */
export const explainCode = (code: number) =>
  tMaybe(`errors.withoutValues.${code}`) ?? phraseWith(code, {}) ?? String(code);

const phraseOf = (error: ApiError, code: number) => phraseWith(code, valuesOf(error));

/** Null when a value of the phrase is missing. */
function phraseWith(code: number, values: Values) {
  const word = `errors.${code}`;
  return namesIn(word).every((name) => name in values) ? tMaybe(word, values) : null;
}

/** Values for phrases: the port of 401003, the numbers of export limits. */
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
  /** Values of the rule's phrase. */
  values?: Values;
}

const isFieldError = (item: unknown): item is FieldError =>
  typeof item === 'object' && item !== null && 'path' in item && 'rule' in item;

export const fieldErrorsOf = (error: unknown): FieldError[] =>
  error instanceof ApiError ? error.envelope.errorData.filter(isFieldError) : [];

/** The rule's phrase, else the message's phrase, else the message. */
export const ruleText = (rule: string, message: string, values?: Values) =>
  patternText(message) ??
  // A provider's own message, or our connection error.
  (rule === 'provider' && message !== '' ? faultWords(message) : null) ??
  messageText(message, values) ??
  rulePhrase(rule, values && withLocalTimes(values)) ??
  faultWords(message);

const isTime = (value: string | number) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value));
const withLocalTimes = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isTime(value) ? time(String(value)) : value]),
  );

/** The sign-in pages load a few of the phrases only. */
const rulePhrase = (rule: string, values?: Values) =>
  tMaybe(`errors.rules.${rule}`, values) ?? tMaybe(`errorRules.${rule}`, values);
const messageText = (message: string, values?: Values) =>
  tMaybe(`errors.messages.${message}`, values) ?? tMaybe(`errorMessages.${message}`, values);

/** PCRE's message is not translated. */
function patternText(message: string) {
  const found = /^(the edge cannot compile it) at character (?<at>\d+): (?<error>.*)$/.exec(message);
  return found && messageText(found[1] ?? '', { ...found.groups });
}

const statusRules: Readonly<Record<number, string>> = { 404: 'notFound', 413: 'size', 415: 'contentType', 429: 'rate' };

const ruleOf = (item: unknown) =>
  typeof item === 'object' && item !== null && 'rule' in item && typeof item.rule === 'string' ? item.rule : null;

/** Codes of an operator's license are also those of the installation's license, which only administrators see. */
const installationLimit = ({ envelope: { errorData } }: ApiError) =>
  errorData.some((item) => ruleOf(item) === 'installationLicense') ? t('errorRules.installationLicense') : null;

/** 101003 names the input and the broken rule. */
function particular(error: ApiError) {
  if (error.envelope.code !== 101_003) return null;
  const [first] = error.envelope.errorData.filter(isFieldError);
  // Errors without a field have a rule only, such as `inUse`.
  const rule = first?.rule ?? error.envelope.errorData.map(ruleOf).find(Boolean) ?? statusRules[error.status];
  if (!rule) return null;
  const wait = error.retryAfterSeconds;
  if (rule === 'rate' && wait !== null) return t('errors.rules.rateWait', { wait: duration(wait, currentLanguage()) });
  const text = ruleText(rule, first?.message ?? '', first?.values);
  // Paths of batch entries do not name a form field.
  const isField = first?.path && !/^ids\.\d+$/.test(first.path);
  return text && (isField ? `${t('errors.101003')}${t('common.colon')}${first.path} ${text}` : text);
}

export interface Multiple {
  code: number;
  text: string;
  targets: readonly string[];
}
/** Entries of the dialog for 101009; null when closed. */
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

/** Rejected entries of a batch by cause. */
export const multipleOf = (error: unknown): Multiple[] =>
  error instanceof ApiError && error.envelope.code === 101_009
    ? error.envelope.errorData
        .filter(isEntry)
        .map(({ targets, ...cause }) => ({ code: cause.code, text: causeText(error, cause), targets }))
    : [];

/** Message of a code and rule, for batches and previews. */
export function causeText(error: ApiError | null, { code, rule, message, values }: Omit<RefusedEntries, 'targets'>) {
  const own = rule === undefined ? '' : ruleText(rule, message ?? '', values);
  return own || (phraseWith(code, { ...(error && valuesOf(error)), ...values }) ?? explainCode(code));
}

export interface Telling {
  /** Text shown before the cause: 'The role was not added'. */
  failed?: Word | undefined;
  says?: Overrides | undefined;
}

/** Shows an error toast with the request id. */
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

/** Logs codes without a phrase. */
export function noteUnmapped(error: unknown) {
  if (error instanceof ApiError && tMaybe(`errors.${error.envelope.code}`) === null)
    console.warn(`Unmapped error code ${error.envelope.code}: ${error.envelope.message} (${error.envelope.reqID})`);
}
