import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { asciiName, DomainName, HostAddress } from '../common/net.ts';
import type { ErrorMessage } from '../messages.ts';
import { moduleFields, ModuleName } from './modules.ts';

/** RFC 9110 5.6.2: names of methods and header fields. */
const Token = z
  .string()
  .trim()
  .max(128)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, {
    message: "only letters, digits and !#$%&'*+-.^_`|~" satisfies ErrorMessage,
  });

export const corsMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** Browsers send these in upper case and others as the script writes them (Fetch 4.1). */
const normalizedMethod = /^(?:delete|get|head|options|post|put)$/i;
const Method = Token.overwrite((text) => (normalizedMethod.test(text) ? text.toUpperCase() : text));

const webOrigin = /^(https?):\/\/(\*\.)?(\[[0-9a-f:.]+\]|[^/:*?#@[\]\s\\]+)(?::(\d{1,5}))?\/?$/;
/** Apps and extensions of browsers. */
const appOrigin = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._~-]+(?::\d{1,5})?\/?$/;
const ownPlace = /^\{host\}(?:\.[a-z0-9][a-z0-9.-]{0,200})?(?::\d{1,5})?$/;

/**
 * The origin as browsers send it (Fetch 3.2.5), whose first label may be `*`: in punycode, without the default port. Or
 * `*`, `null`, and the requested host (`{host}` with an optional suffix). Null: none of these.
 */
function allowedOrigin(text: string): string | null {
  if (text === '*' || text === 'null' || ownPlace.test(text)) return text;
  if (appOrigin.test(text)) return text.replace(/\/$/, '');
  const [, scheme, star = '', written = '', port] = webOrigin.exec(text) ?? [];
  const host = asciiName(written);
  const isName =
    host === 'localhost' || (star === '' ? HostAddress : DomainName).safeParse(host.replace(/^\[|\]$/g, '')).success;
  if (!isName || (port !== undefined && !Port.safeParse(Number(port)).success)) return null;
  const origin = `${scheme}://${star}${host}${port === undefined ? '' : `:${port}`}`;
  return URL.parse(origin)?.origin ?? null;
}
const AllowedOrigin = z
  .string()
  .trim()
  .toLowerCase()
  .max(300)
  .refine((text) => allowedOrigin(text) !== null, {
    message: 'an origin is a scheme, a host and a port, without a path' satisfies ErrorMessage,
  })
  .overwrite((text) => allowedOrigin(text) ?? text);

const settings = {
  allowOrigins: z
    .array(AllowedOrigin)
    .min(1)
    .max(100)
    .describe('*, {host}…, https://app.example.com, https://*.example.com, capacitor://localhost, null'),
  allowMethods: z.array(Method).min(1).max(50).default(['GET', 'HEAD', 'POST']),
  allowHeaders: z.array(Token).max(100).default([]).describe('*: whatever a script asks for'),
  exposeHeaders: z.array(Token).max(100).default([]).describe('What scripts may read beside the usual'),
  maxAge: z.int().min(1).max(86_400).default(600).describe('Seconds that a browser remembers this'),
  allowCredentials: z.boolean().default(false).describe('Cookies and sign-ins go along'),
};
type Listed = Record<'allowOrigins' | 'allowMethods' | 'exposeHeaders', string[]>;
const coherent = (module: Listed & { allowCredentials: boolean }, ctx: z.RefinementCtx) => {
  if (!module.allowCredentials) return;
  // With credentials browsers ignore a star.
  for (const field of ['allowOrigins', 'allowMethods', 'exposeHeaders'] as const)
    if (module[field].includes('*')) ctx.addIssue({ code: 'custom', path: [field], message: 'not with credentials' });
  // Any site can make a document whose origin is null.
  if (module.allowOrigins.includes('null'))
    ctx.addIssue({ code: 'custom', path: ['allowOrigins'], message: 'not with credentials' });
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
