// What the engine of rollouts says, as data: consoles have the words for it, and whoever reads without one finds the same in
// English beside it. What a person or a node's own programs said stays as it was said.
import * as z from 'zod';

export const SayingCode = z.enum([
  /** In the words of the node's own programs: `text`. */
  'said',
  /** No word that it is done, within `seconds` where a strategy says so. */
  'late',
  'lateBack',
  'away',
  'stopped',
  'rolledBack',
  'unwell',
  /** Another machine, or another zone. */
  'gone',
  'refused',
  /** `product` */
  'hadNone',
  /** `product`, `version` */
  'notInStore',
  'newerChange',
  /** `nodes`, `of` */
  'share',
  /** `value`, `limit`, `before`, `others`: shares of `requests` answers. `customers`: whose sites are worse than that. */
  'serverErrors',
  'refusals',
  /** The same in milliseconds. */
  'latency',
  /** `customers`: whose sites alone fared worse. */
  'fewCustomers',
]);
export const Saying = z.object({
  code: SayingCode,
  node: z.string().nullable().describe('About which one it is, where that does not stand beside it'),
  values: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).describe('Names and figures'),
});
/** Null also for what a later version says: while two run side by side, or a console is older, its English words stand. */
export const SayingOrNone = Saying.nullable().catch(null);
export type SayingCode = z.output<typeof SayingCode>;
export type Saying = z.output<typeof Saying>;

export const saying = (code: SayingCode, values: Saying['values'] = {}): Saying => ({ code, node: null, values });
export const ownWords = (text: string): Saying => saying('said', { text });

type Words = Record<SayingCode, (values: Saying['values']) => string>;
const percent = (part: Saying['values'][string] = null) =>
  part === null ? 'not known' : `${Math.round(Number(part) * 1000) / 10} %`;
const ms = (time: Saying['values'][string] = null) => (time === null ? 'not known' : `${Math.round(Number(time))} ms`);

const whose = (customers: Saying['values'][string] = null) =>
  customers === null || customers === 0 ? '' : `; customers whose sites got worse: ${customers}`;

const words: Words = {
  said: ({ text }) => String(text),
  late: ({ seconds }) => `no word that it is done${typeof seconds === 'number' ? ` within ${seconds} s` : ''}`,
  lateBack: () => 'no word that it has gone back',
  away: () => 'it is not connected any more',
  stopped: () => 'nginx does not run',
  rolledBack: () => 'nginx did not take it and serves as before',
  unwell: () => 'not well',
  gone: () => 'it is another machine now, or in another zone',
  refused: () => 'it refused',
  hadNone: ({ product }) => `it had no ${product} before`,
  notInStore: ({ product, version }) => `${product} ${version} is not in the store any more`,
  newerChange: () => 'a newer change of the zone',
  share: ({ nodes, of }) => `${nodes} of ${of} nodes`,
  serverErrors: ({ value, limit, before, others, requests, customers }) =>
    `${percent(value)} of ${requests} answers were 5xx, at most ${percent(limit)} is taken (before: ${percent(before)}; nodes without it: ${percent(others)})${whose(customers)}`,
  refusals: ({ value, limit, before, others, requests, customers }) =>
    `${percent(value)} of ${requests} requests were refused by the node itself, at most ${percent(limit)} is taken (before: ${percent(before)}; nodes without it: ${percent(others)})${whose(customers)}`,
  latency: ({ value, limit, before, others, customers }) =>
    `one in a hundred answers took longer than ${ms(value)}, at most ${ms(limit)} is taken (before: ${ms(before)}; nodes without it: ${ms(others)})${whose(customers)}`,
  fewCustomers: ({ customers }) =>
    `customers whose sites got worse: ${customers}. So few alone do not stop it: whoever has a site can have errors of it as he likes`,
};

export const inEnglish = ({ code, node, values }: Saying): string =>
  (node === null ? '' : `${node}: `) + words[code](values);
