// Custom pages that replace responses with certain codes.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { asciiURL } from '../common/net.ts';
import { RedirectTarget } from '../common/redirect-target.ts';

export const ErrorPageCode = z.literal([400, 403, 500, 502, 504, 903, 929]);
export const ErrorPageType = z.enum(['content', 'redirect', 'javascript']);

const fields = {
  type: ErrorPageType.describe('An HTML page, which runs no scripts; a redirect; or a page that runs a script'),
  value: z
    .string()
    .trim()
    .min(1)
    .max(16_384)
    .regex(/^[^\0\p{Cs}]*$/u, { message: 'wrong format' })
    .describe('HTML, a URL, or a script'),
  enabled: z.boolean().default(true),
  edgeOnly: z
    .boolean()
    .optional()
    .describe(
      "Replaces the edge's own errors only. Otherwise also an origin's, except JSON and requests that accept JSON. Absent: unchanged; for a new page false, and true for an operator's",
    ),
};
const checkValue = ({ type, value }: { type: z.output<typeof ErrorPageType>; value: string }, ctx: z.RefinementCtx) => {
  const isFault =
    // Sequences that end a script early or hide its end.
    (type === 'javascript' && /<\/script|<!--/i.test(value)) ||
    (type === 'redirect' && !RedirectTarget.safeParse(value).success);
  if (isFault) ctx.addIssue({ code: 'custom', path: ['value'], message: 'wrong format' });
};

const withAsciiTarget = <Page extends { type: z.output<typeof ErrorPageType>; value: string }>(page: Page): Page =>
  page.type === 'redirect' ? { ...page, value: asciiURL(page.value) } : page;

const stored = {
  type: ErrorPageType,
  value: z.string(),
  enabled: z.boolean(),
  edgeOnly: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
};

/** The schemas of error pages for these codes: input, update, and the stored page. */
export function errorPageSchemas<Code extends z.ZodType<number>>(code: Code) {
  const input = z.object({ code, ...fields });
  return {
    Input: input.superRefine(checkValue).overwrite(withAsciiTarget),
    Update: input.extend({ id: Id }).superRefine(checkValue).overwrite(withAsciiTarget),
    Page: z.object({ id: Id, code, ...stored }),
  };
}

const schemas = errorPageSchemas(ErrorPageCode);
export const ErrorPageInput = schemas.Input;
export const ErrorPageUpdate = schemas.Update;
export const ErrorPage = schemas.Page;

export type ErrorPage = z.output<typeof ErrorPage>;
export type ErrorPageInput = z.output<typeof ErrorPageInput>;
