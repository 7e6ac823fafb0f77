import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { antiReferers } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { AntiRefererInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { wordsOf } from '../../components/rules/path-condition.tsx';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type RefererDraft = Draft<Received<typeof antiReferers.list>['data'][number]>;

export const newReferer = (): RefererDraft => ({
  id: null,
  key: newKey(),
  isBlack: false,
  referers: [],
  allowEmpty: true,
  type: 'all',
  value: [],
  action: 'deny',
  target: null,
  priority: 0,
  enabled: true,
});

export const fieldsOf = ({ isBlack, referers, allowEmpty, type, value, action, target, enabled }: RefererDraft) => ({
  isBlack,
  referers,
  allowEmpty,
  type,
  value,
  action,
  target: action === 'redirect' ? target || null : null,
  enabled,
});

/** Errors by field. */
export function faultsOf(rule: RefererDraft): Partial<Record<'referers' | 'value' | 'target', Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(AntiRefererInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}

/** The host of a pasted URL. */
export const hostsOf = (text: string): string[] =>
  wordsOf(text.toLowerCase())
    .map((word) => word.replace(/^https?:\/\//, '').replace(/[/?#:].*$/, ''))
    .filter((host) => host !== '');
