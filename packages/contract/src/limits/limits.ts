// Limits of how often visitors may request a site: requests in a window (frequency), a steady rate with a burst
// (limitReq), and requests at the same time (limitConn).
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { PathPattern } from '../common/paths.ts';

const types = [1, 2, 3, 4] as const;
const LimitType = z
  .literal(types)
  .describe('Counted by: 1 address, 2 address and URL, 3 address and user agent, 4 a header, a cookie or a parameter');
const LimitStatus = z.literal([929, 429]).describe('429 has Retry-After, which programs understand');

const common = {
  urlRegex: PathPattern.default('').describe('A pattern over the path. Empty: all paths'),
  type: LimitType.default(1),
  header: z
    .string()
    .trim()
    .max(64)
    .regex(/^(?:(?:cookie|arg):[\w.-]*|[A-Za-z0-9-]*)$/, { message: 'wrong format' })
    .default('')
    .describe(
      'With type 4: the name of the header, `cookie:NAME` or `arg:NAME`. Requests without it are counted by address',
    ),
  status: LimitStatus.default(929),
  monitor: z.boolean().default(false).describe('Only logs what would be refused'),
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first'),
  enabled: z.boolean().default(true),
};

interface Counted {
  type: z.output<typeof LimitType>;
  header: string;
}
function checkHeader({ type, header }: Counted, ctx: z.RefinementCtx): void {
  const isUnnamed = header === '' || header.endsWith(':');
  if (type === 4 ? isUnnamed : header !== '')
    ctx.addIssue({ code: 'custom', path: ['header'], message: isUnnamed ? 'required' : 'wrong format' });
}

const frequency = {
  seconds: z.int().min(1).max(3600).describe('Length of the sliding window'),
  times: z.int().min(1).max(1_000_000).describe('Requests allowed in the window'),
  ...common,
};
export const FrequencyInput = z.object(frequency).superRefine(checkHeader);
export const FrequencyUpdate = z.object({ id: Id, ...frequency }).superRefine(checkHeader);

const MAX_QUEUE_SECONDS = 10;
const limitReq = {
  rate: z.int().min(1).max(1_000_000).describe('Requests per second'),
  burst: z.int().min(0).max(1_000_000).default(0).describe('Requests above the rate that are still allowed'),
  queue: z.boolean().default(false).describe('Requests of the burst wait until the rate allows them'),
  ...common,
};
function checkRate(rule: Counted & { rate: number; burst: number; queue: boolean }, ctx: z.RefinementCtx): void {
  checkHeader(rule, ctx);
  if (rule.queue && rule.burst > rule.rate * MAX_QUEUE_SECONDS)
    ctx.addIssue({ code: 'custom', path: ['burst'], message: 'the last request of the burst would wait too long' });
}
export const LimitReqInput = z.object(limitReq).superRefine(checkRate);
export const LimitReqUpdate = z.object({ id: Id, ...limitReq }).superRefine(checkRate);

const limitConn = {
  max: z.int().min(1).max(65_535).describe('Requests of one visitor that a node answers at the same time'),
  ...common,
  type: z
    .literal([1, 4])
    .default(1)
    .describe('Requests are counted by: 1 address, 4 a header, a cookie or a parameter'),
};
export const LimitConnInput = z.object(limitConn).superRefine(checkHeader);
export const LimitConnUpdate = z.object({ id: Id, ...limitConn }).superRefine(checkHeader);

const stored = {
  id: Id,
  urlRegex: z.string(),
  type: LimitType,
  header: z.string(),
  status: LimitStatus,
  monitor: z.boolean(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
};
export const Frequency = z.object({ ...stored, seconds: z.int(), times: z.int() });
export const LimitReq = z.object({ ...stored, rate: z.int(), burst: z.int(), queue: z.boolean() });
export const LimitConn = z.object({ ...stored, type: z.literal([1, 4]), max: z.int() });

export type Frequency = z.output<typeof Frequency>;
export type FrequencyInput = z.output<typeof FrequencyInput>;
export type LimitReq = z.output<typeof LimitReq>;
export type LimitReqInput = z.output<typeof LimitReqInput>;
export type LimitConn = z.output<typeof LimitConn>;
export type LimitConnInput = z.output<typeof LimitConnInput>;
