// A simulated request, and what the edge would do with it.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { isAddress } from '../common/net.ts';
import { DraftCalls } from '../drafts/drafts.ts';
import { siteRuleSteps } from '../site-rules.ts';
import { WafExplanation } from '../waf/explanation.ts';
import { SimulatedBody } from './simulated-body.ts';

/** Fields about a connection, and the length of a body, which the node sets. */
const ofConnection = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** The edge sets these itself and ignores a visitor's. */
const ours = /^x-(?:e|accel)-/;

const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { message: 'wrong format' })
  .refine((name) => !ofConnection.includes(name.toLowerCase()) && !ours.test(name.toLowerCase()), {
    message: 'this field is not the visitor’s to choose here',
  });
const HeaderValue = z
  .string()
  .max(4096)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, { message: 'wrong format' });
export const SimulatedHeader = z.object({ name: HeaderName, value: HeaderValue });

/** nginx refuses larger headers. */
const HEADER_BYTES = 16_384;
const Headers = z
  .array(SimulatedHeader)
  .max(100)
  .refine((list) => list.reduce((sum, { name, value }) => sum + name.length + value.length + 4, 0) <= HEADER_BYTES, {
    message: 'too large',
  });

export const SimulateInput = z.object({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
  url: z
    .string()
    .trim()
    .max(4096)
    // oxlint-disable-next-line no-control-regex -- the pattern excludes control characters
    .regex(/^https?:\/\/[^\s/?#@\\\u0000-\u001f]+(?:[/?#][^\s\u0000-\u001f\u007f]*)?$/i, { message: 'wrong format' })
    .describe('http:// or https://, at an enabled domain of the site'),
  headers: Headers.default([]),
  body: z
    .object({ base64: SimulatedBody })
    .nullable()
    .default(null)
    .describe('At most 64 KiB. Its type is the Content-Type of `headers`; the node adds the length'),
  ip: z
    .string()
    .trim()
    .refine(isAddress, { message: 'wrong format' })
    .optional()
    .describe("The visitor's address; the caller's where it is left out"),
  nodeID: Id.optional().describe('Which node is asked; any that is connected where it is left out'),
  answer: z
    .object({
      status: z
        .int()
        .min(200)
        .max(599)
        .refine((status) => status !== 304, { message: 'wrong format' })
        .default(200),
      headers: Headers.default([]),
    })
    .optional()
    .describe('What the origin is taken to say, should it be asked; a page of HTML where it is left out'),
  draft: DraftCalls.optional().describe('Changes that count for this request as if they were saved'),
});
export type SimulateInput = z.output<typeof SimulateInput>;

export const stepNames = [
  'host',
  'challenge',
  'status',
  'antiReferer',
  'acl',
  'luaAcl',
  'waf',
  'antiCC',
  'tokenAuth',
  'https',
  'urlRedirect',
  'cors',
  'store',
  'shield',
  'origin',
  'proxyRewrite',
  'requestHeaders',
  'keep',
  'hsts',
  'corsAnswer',
  'responseHeaders',
  'siteLimits',
  'zoneLists',
  'other',
  ...siteRuleSteps,
] as const;
export const decisionNames = [
  'passed',
  'unused',
  'switchedOff',
  'noRule',
  'refused',
  'redirected',
  'closed',
  'answered',
  'applied',
  'failed',
  'looked',
  'slices',
  'past',
  'chosen',
  'stored',
  'notStored',
  'renewed',
  'hit',
  'miss',
  'expired',
  'stale',
  'bypass',
  'other',
] as const;

const Text = z.string();
const Shown = z.array(z.object({ name: Text, value: Text }));

export const Simulation = z.object({
  nodeID: Id,
  nodeName: Text,
  revision: z.int().describe('Of the documents that the node judges by'),
  nodes: z.array(z.object({ id: Id, name: Text })).describe('Which nodes could be asked'),
  outcome: z.object({
    kind: z
      .enum(['answered', 'stored', 'origin', 'closed'])
      .describe('By the edge itself, from its store, by an origin, or not at all'),
    status: z.int().nullable(),
    headers: Shown.describe('What the visitor gets'),
    origin: z
      .object({ address: Text, method: Text, url: Text, headers: Shown })
      .nullable()
      .describe('What an origin would be asked; the first that would be tried'),
  }),
  steps: z.array(
    z.object({
      step: z.enum(stepNames),
      decision: z.enum(decisionNames),
      rule: z.object({ kind: Text, id: Text, name: Text.nullable() }).nullable(),
      detail: z.record(Text, Text),
      waf: WafExplanation.nullable().describe('What the firewall found. Null in other steps'),
      microseconds: z.int(),
    }),
  ),
});
export type Simulation = z.output<typeof Simulation>;
