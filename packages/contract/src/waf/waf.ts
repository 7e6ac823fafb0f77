// The web application firewall of a site: a module with a mode, a paranoia level, and exceptions to the built-in rules.
import * as z from 'zod';
import { Id, Memo, Text } from '../common/common.ts';
import { DomainNameInput } from '../common/net.ts';
import { PathPrefix } from '../common/paths.ts';
import { moduleFields, ModuleName } from '../modules/modules.ts';
import { WafExplanation } from './explanation.ts';

export const wafCategories = [
  'scanner',
  'protocol',
  'files',
  'php',
  'sqli',
  'nosqli',
  'xss',
  'command',
  'ssrf',
  'template',
  'ldap',
  'mail',
  'xml',
  'deserialization',
  'graphql',
  'product',
] as const;
export const WafCategory = z.enum(wafCategories);
export type WafCategory = z.output<typeof WafCategory>;

export const WafMode = z.enum(['off', 'monitor', 'block']);
/** `start`: only the first part is inspected. `deny`: 413. */
export const LargeBodies = z.enum(['start', 'deny']);
export const wafLimits = { exceptions: 200, disabledRules: 500, bodyKiB: 1024 } as const;

const RuleID = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9-]*$/, { message: 'wrong format' });

const Host = DomainNameInput.refine((name) => !name.startsWith('*'), { message: 'enter a domain name' });

/** A time may have any number of decimals. */
const MAX_TIME = 40;
const exceptionShape = {
  rule: RuleID.nullable().default(null).describe('A rule or a category. Null: all rules'),
  path: PathPrefix.max(512).nullable().default(null).describe('How the decoded path begins. Null: all paths'),
  parameter: Text.nullable().default(null).describe('Name of a parameter, a cookie or a header field. Null: all'),
  host: Host.nullable().default(null).describe('The whole name that visitors request. Null: all names'),
  until: z.iso
    .datetime()
    .max(MAX_TIME)
    .nullable()
    .default(null)
    .describe('When it ends. Null: it holds until it is removed'),
  note: Memo.default('').describe('Why it is needed'),
};
export const WafException = z
  .object(exceptionShape)
  .refine((one) => one.rule !== null || one.path !== null || one.parameter !== null, {
    message: 'names a rule, a path or a parameter',
  });
export type WafException = z.output<typeof WafException>;
/** Which findings an exception is for. Two of a firewall with one scope are the same. */
export const ExceptionScope = z.object(exceptionShape).omit({ until: true, note: true });
export type ExceptionScope = z.output<typeof ExceptionScope>;

const shape = {
  name: ModuleName,
  mode: WafMode.default('monitor').describe('monitor: only logs what it would have refused'),
  paranoia: z.int().min(1).max(4).default(1).describe('Higher levels find more, and refuse more ordinary requests'),
  disabledCategories: z.array(WafCategory).max(wafCategories.length).default([]),
  disabledRules: z.array(RuleID).max(wafLimits.disabledRules).default([]),
  exceptions: z.array(WafException).max(wafLimits.exceptions).default([]),
  bodyKiB: z.int().min(1).max(wafLimits.bodyKiB).default(128).describe('How much of a body is inspected'),
  largeBodies: LargeBodies.default('start').describe('What happens to longer bodies'),
};
export const WafInput = z.object(shape);
export const WafUpdate = z.object({ id: Id, ...shape });
const ListedException = z.object({
  rule: z.string().max(64).nullable(),
  path: z.string().max(512).nullable(),
  parameter: z.string().max(256).nullable(),
  host: z.string().max(253).nullable(),
  until: z.iso.datetime().nullable(),
  note: z.string().max(256),
});
/** For lists: rules may have been renamed since. */
export const WafSettings = z.object({
  mode: WafMode,
  paranoia: z.int(),
  disabledCategories: z.array(z.string().max(64)).max(wafCategories.length),
  disabledRules: z.array(z.string().max(64)).max(wafLimits.disabledRules),
  exceptions: z.array(ListedException).max(wafLimits.exceptions),
  bodyKiB: z.int(),
  largeBodies: LargeBodies,
});
export const Waf = WafSettings.extend(moduleFields);
export type WafSettings = z.output<typeof WafSettings>;
/** Exceptions of earlier releases have no host, end and note. */
const StoredExceptions = z
  .array(
    ListedException.extend({
      host: ListedException.shape.host.default(null),
      until: ListedException.shape.until.default(null),
      note: ListedException.shape.note.default(''),
    }),
  )
  .max(wafLimits.exceptions);
/**
 * Exceptions with a host or an end are stored in a list of their own. API processes of releases without `host` and
 * `until` would apply them to all hosts and forever, but do not read that list. A later release stored all of them in
 * `exceptions`.
 */
export const StoredWafSettings = WafSettings.extend({
  exceptions: StoredExceptions,
  limitedExceptions: StoredExceptions.default([]),
}).transform(({ exceptions, limitedExceptions, ...settings }) => ({
  ...settings,
  exceptions: [...exceptions, ...limitedExceptions],
}));
export const isLimited = ({ host, until }: Pick<WafException, 'host' | 'until'>) => host !== null || until !== null;
export const toStored = ({ exceptions, ...settings }: WafSettings) => ({
  ...settings,
  exceptions: exceptions.filter((exception) => !isLimited(exception)),
  limitedExceptions: exceptions.filter(isLimited),
});

const FromLog = z.object({
  reqID: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('Of a request in which the firewall found something'),
});
const FromSimulation = z.object({
  simulated: z
    .object({
      host: z.string().min(1).max(253),
      path: z.string().startsWith('/').max(8192).describe('`path` in the details of the step'),
      rule: RuleID.describe('`rule` in the details of the step'),
      waf: WafExplanation.nullable(),
    })
    .describe('What the firewall found in a simulated request'),
});
export const ExceptionFrom = z.union([FromLog, FromSimulation]);
export type ExceptionFrom = z.output<typeof ExceptionFrom>;
export const ExceptionAdded = z.object({
  moduleID: Id.describe('The firewall of the domain'),
  name: z.string().describe('Of the firewall'),
  exception: ListedException,
  isNew: z.boolean().describe('false: the firewall had it already'),
});
export const ExceptionRemoval = z.object({ moduleID: Id, exception: ExceptionScope });

/** A text in each language. */
export const Words = z.object({ en: z.string(), 'zh-TW': z.string(), 'zh-CN': z.string() });
export const wafSeverities = ['critical', 'error', 'warning', 'notice'] as const;
export const WafSeverity = z.enum(wafSeverities);
export const WafRule = z.object({
  id: z.string(),
  category: WafCategory,
  severity: WafSeverity,
  paranoia: z.int(),
  targets: z.array(z.string()),
  references: z.array(z.string()).describe('CVE or CWE numbers'),
  name: Words,
  description: Words,
});
export const WafLevel = z.object({
  level: z.int(),
  refused: z.number().describe('Share of ordinary requests that the level refused when the model was validated'),
});
export const RuleSwitch = z.object({
  moduleID: Id,
  rules: z.array(RuleID).min(1).max(wafLimits.disabledRules),
  enabled: z.boolean(),
});
export const RulesSwitched = z.object({ moduleID: Id, disabledRules: WafSettings.shape.disabledRules });
export const WafRuleQuery = z.object({
  category: WafCategory.optional(),
  severity: WafSeverity.optional(),
  paranoia: z.int().min(1).max(4).optional().describe('Rules whose lowest level is this one'),
  keyword: z.string().max(256).optional().describe('A part of the id, the name, the description or a reference'),
});
