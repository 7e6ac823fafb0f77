// Access rules as the edge evaluates them: alternatives of conditions, each with one positive operator.
import {
  aclFields,
  AclSettings,
  comparableText,
  isBotField,
  readAclField,
  type AclAction,
  type AclRule,
} from '@edgeloom/contract/acl/acl.ts';
import { decodedPath } from '@edgeloom/contract/common/paths.ts';
import { placeOf } from '@edgeloom/contract/common/redirect-target.ts';
import type { AclDoc } from '@edgeloom/contract/edge/module-doc.ts';

type RuleDoc = AclDoc['rules'][number];
type ConditionDoc = RuleDoc['any'][number][number];
type Condition = AclRule['conditions'][number];

export function aclDoc({ id, settings }: { id: string; settings: unknown }): AclDoc {
  const rules = AclSettings.parse(settings).rules.filter(({ enabled }) => enabled);
  const hasBotField = rules.some(({ conditions }) => conditions.some(({ field }) => isBotField(field)));
  const needs = hasBotField ? { needs: ['botFields'] } : {};
  return { kind: 'module', id, module: 'acl', rules: rules.map(ruleDoc), ...needs };
}

const ruleDoc = (rule: AclRule): RuleDoc => ({
  id: rule.id,
  name: rule.name,
  any: alternatives(rule.conditions).map((group) => group.map(conditionDoc)),
  action: actions[rule.action],
  ...(rule.target !== null && { redirect: redirectTo(rule.action, rule.target) }),
  monitor: rule.monitor,
  matchesAtLimit: rule.limitMode === 'match',
});

const actions: Readonly<Record<AclAction, RuleDoc['action']>> = {
  deny: 'deny',
  drop: 'drop',
  blacklist: 'blacklist',
  allow: 'allow',
  redirect301: 'redirect',
  redirect302: 'redirect',
};

function redirectTo(action: AclAction, url: string): NonNullable<RuleDoc['redirect']> {
  const code = action === 'redirect301' ? 301 : 302;
  const place = placeOf(url);
  return place ? { code, url, ...place } : { code, url, path: decodedPath(url.replace(/[?#].*$/, '')) };
}

/** AND binds tighter than OR. */
function alternatives(conditions: readonly Condition[]): Condition[][] {
  const groups: Condition[][] = [];
  for (const condition of conditions) {
    const group = groups.at(-1);
    if (condition.join === 'or' || !group) groups.push([condition]);
    else group.push(condition);
  }
  return groups;
}

/** Names and schemes have no case. */
const caseless: ReadonlySet<string> = new Set([
  'host',
  'scheme',
  'fileExtension',
  'country',
  'province',
  'continent',
  'bot',
  'botCategory',
  'botState',
]);

/** Stored conditions of older versions may ignore the case of addresses and numbers. */
const isText = (field: string) => Object.entries(aclFields).some(([name, type]) => name === field && type === 'text');

function conditionDoc({ field: text, operator, value, ignoreCase }: Condition): ConditionDoc {
  const { field, name } = readAclField(text) ?? { field: text, name: null };
  const lower = (ignoreCase || caseless.has(field)) && operator !== 'matches' && isText(field);
  const values = (Array.isArray(value) ? value : [value]).flatMap((one: string | number | boolean) =>
    typeof one === 'boolean' ? [] : [typeof one === 'string' ? comparedText(one, { field, operator, lower }) : one],
  );
  const [one] = values;
  const doc = {
    field: field.replace(/:$/, ''),
    ...(name !== null && { name: field === 'header:' ? name.toLowerCase() : name }),
    lower,
    negated: operator === 'exists' ? value === false : negative.has(operator),
  };
  const typed = typeof one === 'number' ? { number: one } : typeof one === 'string' ? { text: one } : {};
  switch (operator) {
    case 'equal':
    case 'notEqual':
    case 'in':
    case 'notIn':
      return { ...doc, operator: field === 'ip' ? 'networks' : 'in', list: values };
    case 'contains':
    case 'notContains':
      return { ...doc, operator: 'contains', ...typed };
    // A number that is missing is neither less nor greater, so these are no negations. Numbers are whole.
    case 'greaterOrEqual':
      return { ...doc, operator: 'greater', number: Number(one) - 1 };
    case 'lessOrEqual':
      return { ...doc, operator: 'less', number: Number(one) + 1 };
    case 'endsWith':
    case 'exists':
    case 'greater':
    case 'less':
    case 'matches':
    case 'startsWith':
      return { ...doc, operator, ...typed };
  }
}
const negative: ReadonlySet<string> = new Set(['notEqual', 'notContains', 'notIn']);

interface Comparison {
  field: string;
  operator: Condition['operator'];
  lower: boolean;
}
function comparedText(text: string, { field, operator, lower }: Comparison): string {
  const compared =
    field === 'path' ? (operator === 'matches' ? text : decodedPath(text)) : comparableText(field, operator, text);
  return lower ? asciiLower(compared) : compared;
}

/** As Lua's string.lower: bytes beyond ASCII stay. */
const asciiLower = (text: string) => text.replace(/[A-Z]/g, (char) => char.toLowerCase());
