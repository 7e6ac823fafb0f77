// Message catalogue of rollouts: codes with values, which consoles translate, and their English text for other readers.
// Texts of people and of a node's programs are not translated.
import * as z from 'zod';

export const MessageCode = z.enum([
  /** `text`, from a node's programs. */
  'verbatim',
  /** No report within `seconds`, where the strategy has a deadline. */
  'timedOut',
  'rollbackTimedOut',
  'away',
  'stopped',
  'rolledBack',
  'unhealthy',
  /** The node is another machine now, or in another zone. */
  'removed',
  'refused',
  /** `product` */
  'noFormerVersion',
  /** `product`, `version` */
  'notInStore',
  'newerChange',
  /** `nodes`, `of` */
  'share',
  /** `value`, `limit`, `before`, `others`: shares of `requests`. `customers`: how many got worse. */
  'serverErrors',
  'refusals',
  /** The same in milliseconds. */
  'latency',
  /** `customers`: too few got worse to fail the gate. */
  'fewCustomers',
]);
type Values = Record<string, string | number | null>;
export const CodedMessage = z.object({
  code: MessageCode,
  node: z.string().nullable().describe('Names of the nodes, where no other field has them'),
  values: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).describe('Names and figures'),
});
/** Null for codes of another version: the English text is shown. */
export const CodedMessageOrNull = CodedMessage.nullable().catch(null);
export type MessageCode = z.output<typeof MessageCode>;
export type CodedMessage = z.output<typeof CodedMessage>;

export const codedMessage = (code: MessageCode, values: Values = {}): CodedMessage => ({ code, node: null, values });
export const verbatim = (text: string): CodedMessage => codedMessage('verbatim', { text });

type Value = Values[string] | undefined;
const percent = (share: Value) => (share == null ? 'unknown' : `${Math.round(Number(share) * 1000) / 10} %`);
const ms = (time: Value) => (time == null ? 'unknown' : `${Math.round(Number(time))} ms`);
const compared = ({ limit, before, others, customers }: Values, write: (value: Value) => string) =>
  `limit ${write(limit)} (before the update ${write(before)}, nodes without the change ${write(others)})` +
  (customers == null || customers === 0 ? '' : `, customers affected: ${customers}`);

const texts: Record<MessageCode, (values: Values) => string> = {
  verbatim: ({ text }) => String(text),
  timedOut: ({ seconds }) =>
    `no confirmation of the update${typeof seconds === 'number' ? ` within ${seconds} s` : ''}`,
  rollbackTimedOut: () => 'no confirmation of the rollback',
  away: () => 'the node is offline',
  stopped: () => 'nginx is not running',
  rolledBack: () => 'nginx rejected the configuration and serves the former one',
  unhealthy: () => 'unhealthy',
  removed: () => 'the machine was replaced or moved to another zone',
  refused: () => 'the node refused without a reason',
  noFormerVersion: ({ product }) => `the node had no ${product} before`,
  notInStore: ({ product, version }) => `${product} ${version} is no longer in the store`,
  newerChange: () => 'replaced by a newer change of the zone',
  share: ({ nodes, of }) => `${nodes} of ${of} nodes`,
  serverErrors: (values) =>
    `${percent(values['value'])} of ${values['requests']} responses were 5xx, ${compared(values, percent)}`,
  refusals: (values) =>
    `${percent(values['value'])} of ${values['requests']} requests were refused by the node, ${compared(values, percent)}`,
  latency: (values) => `p99 latency ${ms(values['value'])}, ${compared(values, ms)}`,
  fewCustomers: ({ customers }) => `customers affected: ${customers}, too few to fail the gate. Check their sites`,
};

export const englishText = ({ code, node, values }: CodedMessage): string =>
  (node === null ? '' : `${node}: `) + texts[code](values);

/** Both fields of a row. */
export const messageFields = (messageCode: CodedMessage) => ({ message: englishText(messageCode), messageCode });
