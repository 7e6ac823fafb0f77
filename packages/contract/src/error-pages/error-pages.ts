// Custom pages that replace responses with certain codes.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { asciiURL } from '../common/net.ts';
import { RedirectTarget } from '../common/redirect-target.ts';

export const ErrorPageCode = z.literal([400, 403, 500, 502, 504, 903, 929]);
export const ErrorPageType = z.enum(['content', 'redirect', 'javascript']);

const fields = {
  code: ErrorPageCode,
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
      "Replaces the edge's own errors only. Otherwise also an origin's, except JSON and requests that accept JSON. Absent: unchanged, and false for a new page",
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

export const ErrorPageInput = z.object(fields).superRefine(checkValue).overwrite(withAsciiTarget);
export const ErrorPageUpdate = z
  .object({ id: Id, ...fields })
  .superRefine(checkValue)
  .overwrite(withAsciiTarget);
export const ErrorPage = z.object({
  id: Id,
  code: ErrorPageCode,
  type: ErrorPageType,
  value: z.string(),
  enabled: z.boolean(),
  edgeOnly: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export type ErrorPage = z.output<typeof ErrorPage>;
export type ErrorPageInput = z.output<typeof ErrorPageInput>;
