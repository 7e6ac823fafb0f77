// Errors in plain words: the catalogue's message and code, the particulars, what to do, and the request ID.
import type { ApiError } from '@edgeloom/contract/client.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import * as z from 'zod';

const Particular = z.object({
  path: z.string().optional(),
  rule: z.string().optional(),
  message: z.string().optional(),
  values: z.record(z.string(), z.unknown()).optional(),
  targets: z.array(z.string()).optional(),
  code: z.int().optional(),
});
type Particular = z.output<typeof Particular>;

/** Words for rules that come without a message. */
const words: Readonly<Record<string, string>> = {
  busy: 'someone else is changing this; try again',
  changed: 'someone else changed this; look at it again',
  enabled: 'turn it off first',
  inUse: 'still in use',
  limit: 'limit reached',
  nameProof: 'add the TXT record that verifies this name first (console, page of the domain)',
  notFound: 'does not exist or was removed',
  publicSuffix: 'others register names below this one; add a name below it',
  rate: 'too many attempts; try again later',
  unknown: 'unknown field',
};

const advice: Readonly<Record<number, string>> = {
  [errors.INVALID_TOKEN.code]:
    'The token was revoked, has expired, or is not allowed from this address. Run edgeloom login.',
  [errors.PERMISSION_DENIED.code]:
    'The token does not have the permission for this. Tokens are created in the console, under API tokens.',
};

const messages = new Map<number, string>(Object.values(errors).map(({ code, message }) => [code, message]));

export function explainError(error: ApiError): string[] {
  const { code, message, errorData, reqID } = error.envelope;
  return [
    `Error ${code}: ${message}`,
    ...errorData.flatMap(explainParticular),
    ...(advice[code] === undefined ? [] : [advice[code]]),
    ...(error.retryAfterSeconds === null ? [] : [`Try again in ${error.retryAfterSeconds} seconds.`]),
    ...(reqID === ''
      ? [`HTTP status ${error.status}. This is not a response of Edgeloom's API.`]
      : [`Request ID: ${reqID}`]),
  ];
}

function explainParticular(data: unknown): string[] {
  const parsed = Particular.safeParse(data);
  if (!parsed.success) return [];
  const { path = '', targets = [] } = parsed.data;
  const places = [...(path === '' ? [] : [path]), ...targets];
  return [`  ${[places.join(', '), reasonOf(parsed.data)].filter((part) => part !== '').join(': ')}`];
}

function reasonOf({ rule = '', message = '', values = {}, code }: Particular): string {
  const filled = message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  // Several errors share the message of their code, which says less than the rule.
  const isSpecific = filled !== '' && ![...messages.values()].includes(filled);
  if (isSpecific) return filled;
  return words[rule] ?? (code === undefined ? rule : (messages.get(code) ?? rule));
}
