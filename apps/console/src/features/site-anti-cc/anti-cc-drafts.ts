import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { SiteAntiCCInput } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type AntiCCRule = Received<typeof antiCCs.list>['data'][number];
export type AntiCCDraft = Draft<AntiCCRule>;

export const EXEMPT = 0;
const defaults = { ...SiteAntiCCInput.parse({}), endsAt: null, priority: 0 };

export const newAntiCC = (): AntiCCDraft => ({
  ...defaults,
  id: null,
  key: newKey(),
  siteRate: 300,
  errorPercent: 50,
  originMs: 5000,
});

/** The fields to send, without the priority. */
export const fieldsOf = ({ id: _, key: _k, priority: _p, ...fields }: AntiCCDraft) => ({
  ...fields,
  headerValue: fields.header === '' ? '' : fields.headerValue,
});

/** Errors by field. */
export function antiCCFaults(rule: AntiCCDraft): Partial<Record<string, Issue>> {
  const faults: Partial<Record<string, Issue>> = {};
  for (const issue of issuesOf(SiteAntiCCInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}

const ATTACK_DIFFICULTY = 4;

/** Whether the rule is one of the switch: all visitors, until a time. */
export const isAttackRule = (rule: Omit<AntiCCRule, 'createdAt' | 'updatedAt'>, now: Date) =>
  rule.enabled &&
  !rule.monitor &&
  rule.mode !== EXEMPT &&
  rule.frequency === 0 &&
  rule.urlRegex === '' &&
  rule.header === '' &&
  rule.endsAt !== null &&
  new Date(rule.endsAt) > now;

/** Above all rules but the exempting ones at the top. Of equal priorities the older rule comes first. */
export function attackRule(rules: readonly AntiCCRule[], endsAt: string) {
  const others = rules.findIndex(({ mode }) => mode !== EXEMPT);
  const exempting = rules.at((others === -1 ? rules.length : others) - 1);
  const above = others === 0 ? 0 : (exempting?.priority ?? 0);
  const below = rules[others]?.priority;
  const priority = below === undefined ? above : Math.max(0, Math.min(above, below - 1));
  return { ...defaults, frequency: 0, difficulty: ATTACK_DIFFICULTY, endsAt, priority };
}
