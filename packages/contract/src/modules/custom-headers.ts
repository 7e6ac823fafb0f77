import * as z from 'zod';
import { Id } from '../common/common.ts';
import { FieldName, moduleFields, ModuleName } from './modules.ts';

export const HeaderDirection = z.enum(['request', 'response']);
export const HeaderAction = z.enum(['add', 'set', 'remove']);
/** Variables in a header value. Any other brace is literal. */
export const headerVariables = ['clientIP', 'host', 'scheme', 'requestID'] as const;

// Fields that frame a message, control caches and proxies, or are set by the edge itself.
const always = ['connection', 'content-length', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const forbidden: Readonly<Record<z.output<typeof HeaderDirection>, readonly string[]>> = {
  request: ['accept-encoding', 'cdn-loop', 'expect', 'range', 'via', 'x-request-id'],
  response: [
    'accept-ranges',
    'age',
    'cache-status',
    'content-encoding',
    'content-range',
    'date',
    'strict-transport-security',
    'vary',
    'x-request-id',
  ],
};
const forbiddenPrefixes: Readonly<Record<z.output<typeof HeaderDirection>, readonly string[]>> = {
  request: ['x-e-', 'x-accel-', 'proxy-', 'if-'],
  response: ['x-e-', 'x-accel-', 'proxy-'],
};

/** Whether a module of this direction may set the field. */
const isOwnHeader = (direction: z.output<typeof HeaderDirection>, name: string): boolean => {
  const plain = name.toLowerCase();
  return !(
    always.includes(plain) ||
    forbidden[direction].includes(plain) ||
    forbiddenPrefixes[direction].some((prefix) => plain.startsWith(prefix))
  );
};

const Value = z
  .string()
  .trim()
  .max(2048)
  .regex(/^[\x20-\x7e]*$/, { message: 'wrong format' });
export const HeaderRule = z
  .object({
    direction: HeaderDirection.describe('On the way to the origin, or to the visitor'),
    action: HeaderAction.describe('Beside what is there, in its place, or gone'),
    name: FieldName.min(1),
    value: Value.default('').describe(`May hold ${headerVariables.map((name) => `{${name}}`).join(', ')}`),
  })
  .superRefine(({ direction, action, name, value }, ctx) => {
    if (!isOwnHeader(direction, name)) ctx.addIssue({ code: 'custom', path: ['name'], message: 'not allowed' });
    if (action !== 'remove' && value === '') ctx.addIssue({ code: 'custom', path: ['value'], message: 'required' });
  });

const LONGEST = 8192;
const headers = z
  .array(HeaderRule)
  .min(1)
  .max(64)
  .superRefine((list, ctx) => {
    if (list.reduce((sum, { name, value }) => sum + name.length + value.length, 0) > LONGEST)
      ctx.addIssue({ code: 'custom', path: [], message: 'too much text' });
  });

export const CustomHeaderInput = z.object({ name: ModuleName, headers });
export const CustomHeaderUpdate = CustomHeaderInput.extend({ id: Id });
export const CustomHeaderSettings = z.object({
  headers: z.array(z.object({ direction: HeaderDirection, action: HeaderAction, name: z.string(), value: z.string() })),
});
export const CustomHeader = CustomHeaderSettings.extend(moduleFields);

export type HeaderRule = z.output<typeof HeaderRule>;
export type CustomHeader = z.output<typeof CustomHeader>;
export type CustomHeaderInput = z.output<typeof CustomHeaderInput>;
