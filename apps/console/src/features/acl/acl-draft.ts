// Rules while they are edited: a value has the form that its operator needs.
import type { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { aclFields, operatorsOf, readAclField, type AclField, type AclOperator } from '@edgeloom/contract/acl/acl.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';

export type Acl = Received<typeof acls.list>['data'][number];
type StoredRule = Acl['rules'][number];
export type Rule = Omit<StoredRule, 'id' | 'limitMode'> & Partial<Pick<StoredRule, 'id' | 'limitMode'>>;
export type Condition = Rule['conditions'][number];

export const fieldNames = Object.keys(aclFields).filter((name): name is AclField => Object.hasOwn(aclFields, name));
export const newCondition: Condition = {
  field: 'path',
  operator: 'startsWith',
  value: '',
  join: 'and',
  ignoreCase: false,
};
export const newRule = (name: string): Rule => ({
  name,
  conditions: [newCondition],
  action: 'deny',
  target: null,
  monitor: false,
  enabled: true,
});

export const isRule = (rule: unknown): rule is Rule =>
  typeof rule === 'object' && rule !== null && 'conditions' in rule && 'action' in rule;

export const fieldOf = (condition: Condition) =>
  readAclField(condition.field) ?? { field: 'path' as const, name: null };
export const typeOf = (condition: Condition) => aclFields[fieldOf(condition).field];
export const isList = ({ operator }: Condition) => operator === 'in' || operator === 'notIn';
export const isRedirect = ({ action }: Pick<Rule, 'action'>) => action === 'redirect301' || action === 'redirect302';

/** The value as lines. */
export function textOf({ value }: Condition): string {
  if (typeof value === 'boolean') return '';
  return Array.isArray(value) ? value.join('\n') : String(value);
}

/** A text that is no number stays, so that the schema names the error. */
const numberOf = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text);

export function valueOf(condition: Condition, text: string): Condition['value'] {
  if (condition.operator === 'exists') return true;
  const isNumber = typeOf(condition) === 'number';
  if (!isList(condition)) return isNumber ? numberOf(text.trim()) : text;
  const lines = text.split('\n').map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (!isNumber) return filled;
  const numbers = filled.map(numberOf);
  return numbers.every((one) => typeof one === 'number') ? numbers : filled;
}

/** Keeps operator and value where the new field allows them. */
export function withField(condition: Condition, field: AclField): Condition {
  const moved = { ...condition, field: field.endsWith(':') ? `${field}${fieldOf(condition).name ?? ''}` : field };
  const operators = operatorsOf[aclFields[field]];
  return withOperator(moved, operators.includes(moved.operator) ? moved.operator : (operators[0] ?? 'equal'));
}

export function withOperator(condition: Condition, operator: AclOperator): Condition {
  const moved = { ...condition, operator, ignoreCase: operator !== 'matches' && condition.ignoreCase };
  return { ...moved, value: operator === 'exists' ? true : valueOf(moved, textOf(condition)) };
}

export function withoutLimitMode(rule: Rule): Rule {
  const rest = { ...rule };
  delete rest.limitMode;
  return rest;
}
