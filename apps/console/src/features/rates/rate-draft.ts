import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { RateInput } from '@edgeloom/contract/rates/rates.ts';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type RateDraft = Draft<Received<typeof rates.list>['data'][number]>;

export const newRate = (): RateDraft => ({
  id: null,
  key: newKey(),
  type: 'fileType',
  value: [],
  rate: 1024,
  after: 0,
  priority: 0,
  enabled: true,
});

export const fieldsOf = ({ type, value, rate, after, enabled }: RateDraft) => ({ type, value, rate, after, enabled });

/** Errors by field. */
export function faultsOf(rule: RateDraft): Partial<Record<'value' | 'rate' | 'after', Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(RateInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}
