import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { DomainName } from '../common/net.ts';
import { FieldName, moduleFields, ModuleName } from './modules.ts';

export const CorsMethod = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const place = /^(https?):\/\/(\*\.)?([^/:*?#@\s]+)(?::(\d{1,5}))?$/;
const ownPlace = /^\{host\}(?:\.[a-z0-9][a-z0-9.-]{0,200})?(?::\d{1,5})?$/;
/** `*`, the requested host (`{host}` with an optional suffix), or an origin whose first label may be `*`. */
function isAllowedOrigin(text: string): boolean {
  if (text === '*' || ownPlace.test(text)) return true;
  const [, , , host = '', port] = place.exec(text) ?? [];
  const named = host === 'localhost' || DomainName.safeParse(host).success || z.ipv4().safeParse(host).success;
  return named && (port === undefined || Port.safeParse(Number(port)).success);
}
const AllowedOrigin = z.string().trim().toLowerCase().max(300).refine(isAllowedOrigin, { message: 'wrong format' });
const FieldOrAll = z.union([z.literal('*'), FieldName.min(1)]);

const settings = {
  allowOrigins: z
    .array(AllowedOrigin)
    .min(1)
    .max(100)
    .describe('*, {host}…, https://app.example.com, https://*.example.com'),
  allowMethods: z.array(CorsMethod).min(1).max(7).default(['GET', 'HEAD', 'POST']),
  allowHeaders: z.array(FieldOrAll).max(100).default([]).describe('*: whatever a script asks for'),
  exposeHeaders: z.array(FieldOrAll).max(100).default([]).describe('What scripts may read beside the usual'),
  maxAge: z.int().min(1).max(86_400).default(600).describe('Seconds that a browser remembers this'),
  allowCredentials: z.boolean().default(false).describe('Cookies and sign-ins go along'),
};
const coherent = (
  {
    allowCredentials,
    allowOrigins,
    exposeHeaders,
  }: { allowCredentials: boolean; allowOrigins: string[]; exposeHeaders: string[] },
  ctx: z.RefinementCtx,
) => {
  if (!allowCredentials) return;
  // With credentials browsers ignore a star.
  if (allowOrigins.includes('*'))
    ctx.addIssue({ code: 'custom', path: ['allowOrigins'], message: 'not with credentials' });
  if (exposeHeaders.includes('*'))
    ctx.addIssue({ code: 'custom', path: ['exposeHeaders'], message: 'not with credentials' });
};

export const CorsInput = z.object({ name: ModuleName, ...settings }).superRefine(coherent);
export const CorsUpdate = z.object({ id: Id, name: ModuleName, ...settings }).superRefine(coherent);
export const CorsSettings = z.object({
  allowOrigins: z.array(z.string()),
  allowMethods: z.array(z.string()),
  allowHeaders: z.array(z.string()),
  exposeHeaders: z.array(z.string()),
  maxAge: z.int(),
  allowCredentials: z.boolean(),
});
export const Cors = CorsSettings.extend(moduleFields);

export type Cors = z.output<typeof Cors>;
export type CorsInput = z.output<typeof CorsInput>;
export type CorsSettings = z.output<typeof CorsSettings>;
