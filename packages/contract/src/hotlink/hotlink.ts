// Restrictions by Referer and by other request headers.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { asciiName, HostAddress } from '../common/net.ts';
import { checkPaths, PathType, PathValues, storedPaths } from '../common/paths.ts';
import { safePattern } from '../common/pattern.ts';
import { RedirectTarget } from '../common/redirect-target.ts';

/** `example.com` itself, `*.example.com` with one label before it, `**.example.com` with one or more. */
export const HostPattern = z
  .string()
  .trim()
  .toLowerCase()
  .overwrite(asciiName)
  .max(256)
  .refine((text) => HostAddress.safeParse(text.replace(/^\*{1,2}\./, '')).success && !text.includes(':'), {
    message: 'wrong format',
  });

const order = {
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first'),
  enabled: z.boolean().default(true),
};

const referer = {
  isBlack: z
    .boolean()
    .describe("true: pages on these hosts are refused; false: only they are let in, and the domain's own pages"),
  referers: z.array(HostPattern).max(200).default([]).describe('Hosts; *. stands for one label, **. for one or more'),
  allowEmpty: z.boolean().default(true).describe('Requests that name no page are let in'),
  type: PathType.default('all'),
  value: PathValues.default([]),
  action: z.enum(['deny', 'redirect']).default('deny').describe('403, or 302 to the target'),
  target: RedirectTarget.nullable().default(null).describe('Where to; it is itself let through'),
  ...order,
};
const usable = (
  rule: Pick<AntiReferer, 'isBlack' | 'referers' | 'allowEmpty' | 'type' | 'value' | 'action' | 'target'>,
  ctx: z.RefinementCtx,
) => {
  checkPaths(rule, ctx);
  // Without hosts a block list refuses nothing, and an allow list accepts the domain's own pages.
  if (rule.isBlack && rule.allowEmpty && rule.referers.length === 0)
    ctx.addIssue({ code: 'custom', path: ['referers'], message: 'required' });
  if (rule.action === 'redirect' && rule.target === null)
    ctx.addIssue({ code: 'custom', path: ['target'], message: 'required' });
};
export const AntiRefererInput = z.object(referer).superRefine(usable).overwrite(storedPaths);
export const AntiRefererUpdate = z
  .object({ id: Id, ...referer })
  .superRefine(usable)
  .overwrite(storedPaths);
export const AntiReferer = z.object({
  id: Id,
  isBlack: z.boolean(),
  referers: z.array(z.string()),
  allowEmpty: z.boolean(),
  type: PathType,
  value: z.array(z.string()),
  action: z.enum(['deny', 'redirect']),
  target: z.string().nullable(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export const HeaderOperator = z.enum(['equal', 'notEqual', 'contains', 'startsWith', 'matches', 'exists', 'absent']);
const header = {
  name: z
    .string()
    .trim()
    .max(64)
    .regex(/^[A-Za-z0-9-]+$/, { message: 'wrong format' }),
  operator: HeaderOperator.describe(
    'Of a field that comes more than once any line counts; notEqual is the opposite of equal, so it holds without the field',
  ),
  value: z
    .string()
    .trim()
    .max(1024)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, { message: 'wrong format' })
    .default(''),
  action: z.enum(['deny', 'drop']).default('deny').describe('403, or the connection is closed without an answer'),
  ...order,
};
/** These two operators have no value. */
export const asksValue = (operator: z.output<typeof HeaderOperator>) => operator !== 'exists' && operator !== 'absent';
const comparable = ({ operator, value }: Pick<AntiHeader, 'operator' | 'value'>, ctx: z.RefinementCtx) => {
  if (asksValue(operator) === (value === ''))
    ctx.addIssue({ code: 'custom', path: ['value'], message: value === '' ? 'required' : 'wrong format' });
  const fault = operator === 'matches' ? safePattern(value) : null;
  if (fault) ctx.addIssue({ code: 'custom', path: ['value'], message: fault });
};
export const AntiHeaderInput = z.object(header).superRefine(comparable);
export const AntiHeaderUpdate = z.object({ id: Id, ...header }).superRefine(comparable);
export const AntiHeader = z.object({
  id: Id,
  name: z.string(),
  operator: HeaderOperator,
  value: z.string(),
  action: z.enum(['deny', 'drop']),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export type AntiReferer = z.output<typeof AntiReferer>;
export type AntiRefererInput = z.output<typeof AntiRefererInput>;
export type AntiRefererUpdate = z.output<typeof AntiRefererUpdate>;
export type AntiHeader = z.output<typeof AntiHeader>;
export type AntiHeaderInput = z.output<typeof AntiHeaderInput>;
export type AntiHeaderUpdate = z.output<typeof AntiHeaderUpdate>;
