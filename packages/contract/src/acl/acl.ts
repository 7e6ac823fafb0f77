// Access rules: conditions over a request, and an action.
import * as z from 'zod';
import { Id, Text } from '../common/common.ts';
import { asciiName, Cidr } from '../common/net.ts';
import { pathError, pathPatternError, storedPath } from '../common/paths.ts';
import { safePattern } from '../common/pattern.ts';
import { placeOf } from '../common/redirect-target.ts';
import type { ErrorMessage } from '../messages.ts';
import { FieldName, moduleFields, ModuleName } from '../modules/modules.ts';

export const ACL_RULES_OF_A_MODULE = 100;
/** Disabled rules count, too. Every worker of a node compiles the patterns. */
export const PATTERNS_OF_A_MODULE = 200;
export const ACL_PATTERNS_OF_A_SITE = 1000;
const NETWORKS_OF_A_CONDITION = 5000;
const TEXTS_OF_A_CONDITION = 1000;
const LONGEST_TEXT = 1024;

/** Fields by the type of their value. `arg:`, `header:` and `cookie:` are followed by a name. */
export const aclFields = {
  ip: 'address',
  country: 'text',
  province: 'text',
  continent: 'text',
  isp: 'text',
  asn: 'number',
  method: 'text',
  scheme: 'text',
  host: 'text',
  port: 'number',
  uri: 'text',
  path: 'text',
  args: 'text',
  'arg:': 'text',
  'header:': 'text',
  'cookie:': 'text',
  userAgent: 'text',
  referer: 'text',
  httpVersion: 'text',
  contentLength: 'number',
  fileExtension: 'text',
  riskScore: 'number',
  bot: 'text',
  botCategory: 'text',
  botState: 'text',
  bodyText: 'text',
} as const;
export type AclField = keyof typeof aclFields;

/** As in the edge's catalogue (agent/lua/edge/bots/catalogue.lua), which a test compares. */
export const botValues: Readonly<Record<string, readonly string[]>> = {
  botCategory: ['search', 'preview', 'aiTraining', 'aiAssistant', 'monitoring', 'seo'],
  botState: ['declared', 'verified', 'impostor'],
};
/** Agents of earlier versions do not know these fields. */
export const isBotField = (field: string): boolean => field === 'bot' || Object.hasOwn(botValues, field);

export const AclOperator = z.enum([
  'equal',
  'notEqual',
  'contains',
  'notContains',
  'in',
  'notIn',
  'greater',
  'less',
  'greaterOrEqual',
  'lessOrEqual',
  'startsWith',
  'endsWith',
  'matches',
  'exists',
]);
export type AclOperator = z.output<typeof AclOperator>;

const lists: readonly AclOperator[] = ['in', 'notIn'];
export const operatorsOf: Readonly<Record<'address' | 'text' | 'number', readonly AclOperator[]>> = {
  address: ['in', 'notIn', 'equal', 'notEqual'],
  text: ['equal', 'notEqual', 'contains', 'notContains', 'startsWith', 'endsWith', 'in', 'notIn', 'matches', 'exists'],
  number: ['equal', 'notEqual', 'greater', 'less', 'greaterOrEqual', 'lessOrEqual', 'in', 'notIn'],
};

/** The field of a condition and its name. Null: there is no such field. */
export function readAclField(text: string): { field: AclField; name: string | null } | null {
  const colon = text.indexOf(':');
  const field = colon === -1 ? text : text.slice(0, colon + 1);
  if (!isField(field)) return null;
  return { field, name: colon === -1 ? null : text.slice(colon + 1) };
}
const isField = (text: string): text is AclField => Object.hasOwn(aclFields, text);

/** Cookies and query parameters have other names than header fields. */
const isName = (field: AclField, name: string) =>
  field === 'header:' ? FieldName.safeParse(name).success : /^[\x21-\x3a\x3c\x3e-\x7e]{1,128}$/.test(name);

const wrong: ErrorMessage = 'wrong format';
const Literal = z.string().max(LONGEST_TEXT);
const Whole = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const valueOf = {
  address: { one: Cidr, many: z.array(Cidr).min(1).max(NETWORKS_OF_A_CONDITION) },
  text: { one: Literal.min(1), many: z.array(Literal).min(1).max(TEXTS_OF_A_CONDITION) },
  number: { one: Whole, many: z.array(Whole).min(1).max(TEXTS_OF_A_CONDITION) },
} as const;

function valueSchema(type: keyof typeof valueOf, operator: AclOperator): z.ZodType {
  if (operator === 'exists') return z.boolean();
  if (lists.includes(operator)) return valueOf[type].many;
  // An empty text may be compared, but is contained everywhere.
  return type === 'text' && (operator === 'equal' || operator === 'notEqual') ? Literal : valueOf[type].one;
}

const AclValue = z.union([
  z.boolean(),
  z.number(),
  z.string().max(LONGEST_TEXT),
  z.array(z.number()).max(TEXTS_OF_A_CONDITION),
  z.array(z.string().max(LONGEST_TEXT)).max(NETWORKS_OF_A_CONDITION),
]);

const conditionShape = {
  field: z.string().max(140).describe('ip, path, header:NAME, cookie:NAME, arg:NAME and others'),
  operator: AclOperator,
  value: AclValue.describe('Of the type of the field; a list with in and notIn; whether it exists'),
  join: z.enum(['and', 'or']).default('and').describe('To the condition before it; and binds tighter'),
  ignoreCase: z.boolean().default(false),
};
type Condition = z.output<z.ZodObject<typeof conditionShape>>;
const AclCondition = z.object(conditionShape).superRefine(checkCondition).overwrite(storedCondition);

function checkCondition(condition: Condition, ctx: z.RefinementCtx): void {
  const at = readAclField(condition.field);
  if (!at || (at.name === null) === at.field.endsWith(':') || (at.name !== null && !isName(at.field, at.name)))
    return ctx.addIssue({ code: 'custom', path: ['field'], message: wrong });
  const type = aclFields[at.field];
  if (!operatorsOf[type].includes(condition.operator))
    return ctx.addIssue({ code: 'custom', path: ['operator'], message: 'not allowed' satisfies ErrorMessage });
  const parsed = valueSchema(type, condition.operator).safeParse(condition.value);
  for (const issue of parsed.error?.issues ?? [])
    ctx.addIssue({ code: 'custom', path: ['value', ...issue.path], message: issue.message });
  if (condition.ignoreCase && type !== 'text')
    ctx.addIssue({ code: 'custom', path: ['ignoreCase'], message: 'not allowed' satisfies ErrorMessage });
  if (condition.operator === 'matches' && typeof condition.value === 'string') {
    const patternError = at.field === 'path' ? pathPatternError : safePattern;
    const stored = comparableText(at.field, 'matches', condition.value);
    const fault = condition.ignoreCase
      ? 'not allowed'
      : (patternError(condition.value) ?? safePattern(stored) ?? hostPatternError(at.field, condition.value));
    if (fault) ctx.addIssue({ code: 'custom', path: [condition.ignoreCase ? 'ignoreCase' : 'value'], message: fault });
  } else if (parsed.success) checkComparable(condition, ctx);
}

const isWhole = (operator: AclOperator) => operator === 'equal' || operator === 'notEqual' || lists.includes(operator);

/** A part of a value may be any text. */
function isKnownValue(field: string, operator: AclOperator, text: string): boolean {
  return !isWhole(operator) || (botValues[field]?.some((value) => value.toLowerCase() === text.toLowerCase()) ?? true);
}

/** Refuses texts that no path, host, extension, category or state of a bot has. */
function checkComparable({ field, operator, value }: Condition, ctx: z.RefinementCtx): void {
  for (const [i, text] of (Array.isArray(value) ? value : [value]).entries()) {
    if (typeof text !== 'string') continue;
    const stored = comparableText(field, operator, text);
    const message =
      (field === 'path' ? pathError(text, pathExtents[operator] ?? 'whole') : fieldError(field, operator, stored)) ??
      (stored.length > LONGEST_TEXT ? 'too long' : null);
    if (message) ctx.addIssue({ code: 'custom', path: Array.isArray(value) ? ['value', i] : ['value'], message });
  }
}
const pathExtents: Partial<Record<AclOperator, 'start' | 'part'>> = {
  startsWith: 'start',
  contains: 'part',
  notContains: 'part',
  endsWith: 'part',
};

function fieldError(field: string, operator: AclOperator, text: string): ErrorMessage | null {
  // The edge knows a host without its port, of these characters only.
  if (field === 'host' && !/^[a-z0-9._-]*$/.test(text))
    return NON_ASCII.test(text) && !isWhole(operator) ? 'names of other scripts in punycode' : 'enter a domain name';
  if (field === 'fileExtension') return /[./]/.test(text) ? 'an extension without dots' : null;
  return isKnownValue(field, operator, text) ? null : wrong;
}

const NON_ASCII = /\P{ASCII}/u;
const hostPatternError = (field: string, pattern: string): ErrorMessage | null =>
  field === 'host' && NON_ASCII.test(pattern) ? 'names of other scripts in punycode' : null;

/** Requests have a host in punycode, which changes whole labels: parts of a label stay as they are. */
function asciiHost(text: string, operator: AclOperator): string {
  if (isWhole(operator)) return asciiName(text);
  const labels = text.split('.');
  const first = operator === 'startsWith' ? 0 : 1;
  const last = labels.length - (operator === 'endsWith' ? 1 : 2);
  return labels.map((label, i) => (i >= first && i <= last ? asciiName(label) : label)).join('.');
}

/** RFC 9110 9.3 and RFC 5789. Methods have a case, and browsers send these in upper case. */
const standardMethod = /^(?:get|head|post|put|delete|connect|options|trace|patch)$/i;

/** The text as requests have it: paths in one spelling, names in punycode, and escapes as browsers send them. */
export function comparableText(field: string, operator: AclOperator, text: string): string {
  if (field === 'uri' || field === 'args') return escapedText(text, operator);
  if (operator === 'matches') return text;
  if (field === 'path') return storedPath(text);
  if (field === 'host') return asciiHost(text.toLowerCase(), operator);
  return field === 'method' && standardMethod.test(text) ? text.toUpperCase() : text;
}

/** Blanks of a pattern stay, since they may be in brackets or before a repeat. */
const escapedText = (text: string, operator: AclOperator) =>
  text
    .toWellFormed()
    .replace(operator === 'matches' ? /\P{ASCII}+/gu : /(?:\P{ASCII}|\s)+/gu, (part) => encodeURIComponent(part));

const Texts = z.array(z.string());
function storedCondition(condition: Condition): Condition {
  const { field, operator, value } = condition;
  if (typeof value === 'string') return { ...condition, value: comparableText(field, operator, value) };
  const texts = Texts.safeParse(value).data;
  return texts ? { ...condition, value: texts.map((text) => comparableText(field, operator, text)) } : condition;
}

export const AclAction = z.enum(['deny', 'drop', 'blacklist', 'allow', 'redirect301', 'redirect302']);
export type AclAction = z.output<typeof AclAction>;
/** `match`: a condition that cannot be judged counts as true. */
export const AclLimitMode = z.enum(['match', 'noMatch']);

const isRedirect = (action: AclAction) => action === 'redirect301' || action === 'redirect302';
/** A path of this host, or a URL. Browsers read a second slash or backslash as another host. */
export const isTarget = (text: string) => /^\/(?![/\\])[\x21-\x7e]*$/.test(text) || placeOf(text) !== null;

const ruleShape = {
  name: Text,
  conditions: z.array(AclCondition).min(1).max(50),
  action: AclAction.describe('deny: 929. drop: closes the connection. blacklist: also blocks the address'),
  target: z.string().trim().max(2048).nullable().default(null).describe('Of a redirect: a path or a URL'),
  monitor: z.boolean().default(false).describe('Only logs what it would have done'),
  limitMode: AclLimitMode.optional().describe('At a match limit, and for a body beyond 64 KiB or of unknown length'),
  enabled: z.boolean().default(true),
};
interface ActionAndTarget {
  action: AclAction;
  target: string | null;
}
function checkTarget({ action, target }: ActionAndTarget, ctx: z.RefinementCtx) {
  const fault: ErrorMessage | null =
    isRedirect(action) && (target === null || !isTarget(target))
      ? 'enter a path or a URL'
      : !isRedirect(action) && target !== null
        ? 'not allowed'
        : null;
  if (fault) ctx.addIssue({ code: 'custom', path: ['target'], message: fault });
}
export const AclRuleInput = z.object(ruleShape).superRefine(checkTarget);
export const AclRuleUpdate = z.object({ id: Id, ...ruleShape }).superRefine(checkTarget);

/** Stored rules are not validated again: a stricter version must still show them. */
export const AclRule = z.object({
  id: Id,
  name: z.string(),
  conditions: z.array(
    z.object({
      field: z.string(),
      operator: AclOperator,
      value: AclValue,
      join: z.enum(['and', 'or']),
      ignoreCase: z.boolean(),
    }),
  ),
  action: AclAction,
  target: z.string().nullable(),
  monitor: z.boolean(),
  limitMode: AclLimitMode,
  enabled: z.boolean(),
});
export const AclSettings = z.object({ rules: z.array(AclRule) });

const rules = z.array(AclRuleInput).max(ACL_RULES_OF_A_MODULE).describe('In order; the first that matches decides');
export const AclInput = z.object({ name: ModuleName, rules: rules.default([]) });
export const AclUpdate = z.object({
  id: Id,
  name: ModuleName,
  rules: z
    .array(z.object({ ...ruleShape, id: Id.optional() }).superRefine(checkTarget))
    .max(ACL_RULES_OF_A_MODULE)
    .optional()
    .describe('Left out: unchanged'),
});
export const Acl = AclSettings.extend(moduleFields);

export const AclOrder = z.object({ ids: z.array(Id).min(1).max(ACL_RULES_OF_A_MODULE) });
export const AclCopyInput = z.object({
  moduleID: Id,
  ids: z.array(Id).min(1).max(ACL_RULES_OF_A_MODULE).describe('Rules, appended in their order'),
  targets: z
    .array(z.object({ siteID: Id, moduleID: Id }))
    .min(1)
    .max(20),
});
export const AclSearchInput = z.object({
  field: z.string().max(140).optional(),
  value: z.string().min(1).max(256).optional().describe('A part of a value or of the name'),
  action: AclAction.optional(),
});
export const AclFound = z.object({ moduleID: Id, moduleName: z.string(), rule: AclRule });

export type AclRule = z.output<typeof AclRule>;
export type AclRuleInput = z.output<typeof AclRuleInput>;
export type AclRuleUpdate = z.output<typeof AclRuleUpdate>;
export type AclSettings = z.output<typeof AclSettings>;
export type AclCopyInput = z.output<typeof AclCopyInput>;
export type AclSearchInput = z.output<typeof AclSearchInput>;

/** A limit must not let a visitor past a prohibition, nor past all others by a permission. */
export const defaultLimitMode = ({ action, conditions }: Pick<AclRuleInput, 'action' | 'conditions'>) =>
  action === 'allow' || conditions.some(({ field }) => field === 'bodyText') ? 'noMatch' : 'match';
