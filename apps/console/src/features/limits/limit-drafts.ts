import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { FrequencyInput, LimitConnInput, LimitReqInput } from '@edgeloom/contract/limits/limits.ts';
import type * as z from 'zod';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type FrequencyDraft = Draft<Received<typeof frequencies.list>['data'][number]>;
export type LimitReqDraft = Draft<Received<typeof limitReqs.list>['data'][number]>;
export type LimitConnDraft = Draft<Received<typeof limitConns.list>['data'][number]>;
export type LimitDraft = FrequencyDraft | LimitReqDraft | LimitConnDraft;

const prefixes = ['cookie', 'arg'] as const;
export type Source = 'header' | (typeof prefixes)[number];

/** With type 4, `header` is the name of a header, `cookie:NAME` or `arg:NAME`. */
export function sourceOf(header: string): { source: Source; name: string } {
  const source = prefixes.find((prefix) => header.startsWith(`${prefix}:`));
  return source ? { source, name: header.slice(source.length + 1) } : { source: 'header', name: header };
}
export const headerOf = (source: Source, name: string) => (source === 'header' ? name : `${source}:${name}`);

/** The choice that the editor shows: the type, or the source of type 4. */
export function countedBy({ type, header }: Pick<LimitDraft, 'type' | 'header'>) {
  const { source } = sourceOf(header);
  return type === 4 && source !== 'header' ? source : type;
}
export type CountedBy = ReturnType<typeof countedBy>;

const common = () => ({
  id: null,
  key: newKey(),
  urlRegex: '',
  type: 1 as const,
  header: '',
  status: 929 as const,
  monitor: false,
  priority: 0,
  enabled: true,
});
export const newFrequency = (): FrequencyDraft => ({ ...common(), seconds: 60, times: 600 });
export const newLimitReq = (): LimitReqDraft => ({ ...common(), rate: 50, burst: 100, queue: false });
export const newLimitConn = (): LimitConnDraft => ({ ...common(), max: 20 });

/** The fields to send, without the priority. */
export const fieldsOf = <D extends LimitDraft>({ id: _, key: _k, priority: _p, ...fields }: D) => ({
  ...fields,
  header: fields.type === 4 ? fields.header : '',
});

/** Errors by field. */
function faultsBy(schema: z.ZodType, rule: LimitDraft): Partial<Record<string, Issue>> {
  const faults: Partial<Record<string, Issue>> = {};
  for (const issue of issuesOf(schema, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}
export const frequencyFaults = (rule: FrequencyDraft) => faultsBy(FrequencyInput, rule);
export const limitReqFaults = (rule: LimitReqDraft) => faultsBy(LimitReqInput, rule);
export const limitConnFaults = (rule: LimitConnDraft) => faultsBy(LimitConnInput, rule);
