import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { AntiHeaderInput, asksValue } from '@edgeloom/contract/hotlink/hotlink.ts';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type HeaderDraft = Draft<Received<typeof siteAntiHeaders.list>['data'][number]>;

export const newHeader = (): HeaderDraft => ({
  id: null,
  key: newKey(),
  name: '',
  operator: 'equal',
  value: '',
  action: 'deny',
  priority: 0,
  enabled: true,
});

export const fieldsOf = ({ name, operator, value, action, enabled }: HeaderDraft) => ({
  name: name.trim(),
  operator,
  value: asksValue(operator) ? value : '',
  action,
  enabled,
});

/** Errors by field. */
export function faultsOf(rule: HeaderDraft): Partial<Record<'name' | 'value', Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(AntiHeaderInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}
