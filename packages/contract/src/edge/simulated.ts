// Simulated requests on a node (cmd.<node>.simulate).
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { SimulatedBody } from '../simulate/simulated-body.ts';
import { DocKey } from './documents.ts';

const Fields = z.array(z.tuple([z.string().max(256), z.string().max(16_384)])).max(100);

export const SimulatedRequest = z.object({
  scheme: z.enum(['http', 'https']),
  port: Port,
  method: z.string().max(32),
  host: z.string().max(300),
  path: z.string().max(8192),
  headers: Fields,
  body: SimulatedBody.optional(),
  ip: z.string().max(64),
  /** The origin's assumed response. */
  answer: z.object({ status: z.int().min(200).max(599), headers: Fields }),
  /** Documents that replace those on disk for this request. Null: removed. */
  docs: z.record(DocKey, z.string().nullable()).optional(),
});

/** cmd.<node>.simulate */
export const SimulateCommand = z.object({ id: Id, deadline: z.iso.datetime(), request: SimulatedRequest });

export const Simulated = z.object({
  revision: z.int(),
  siteID: z.string().nullable().describe('Whose request it is; null: nobody’s'),
  hasBody: z.boolean().optional().describe('Whether the body was sent. Older agents ignore it, and have no such field'),
  status: z.int().nullable().describe('null: the connection is closed without an answer'),
  headers: Fields.max(1000),
  /** The request to the origin. Null: none. */
  asked: z.object({ method: z.string(), uri: z.string(), headers: Fields.max(1000) }).nullable(),
  steps: z.array(
    z.object({
      step: z.string(),
      decision: z.string(),
      rule: z.object({ kind: z.string(), id: z.string() }).nullable(),
      detail: z.record(z.string(), z.string()),
      microseconds: z.int(),
    }),
  ),
});

/** A logged request that is simulated again. Its origin responds with a page. */
export const ReplayedRequest = SimulatedRequest.omit({ answer: true, docs: true, body: true });
/** Requests of one command. Its documents apply to all of them. */
export const REPLAY_PAGE = 200;

/** cmd.<node>.replay */
export const ReplayCommand = z.object({
  id: Id,
  deadline: z.iso.datetime(),
  requests: z.array(ReplayedRequest).max(REPLAY_PAGE),
  docs: z.record(DocKey, z.string().nullable()),
});

/** How the edge would end a request. */
export const Replayed = z.object({
  siteID: Simulated.shape.siteID,
  status: Simulated.shape.status,
  /** The step that ends the request. Null: it passes. */
  end: z
    .object({ step: z.string(), decision: z.string(), rule: z.object({ kind: z.string(), id: z.string() }).nullable() })
    .nullable(),
});

export type ReplayedRequest = z.output<typeof ReplayedRequest>;
export type ReplayCommand = z.output<typeof ReplayCommand>;
export type Replayed = z.output<typeof Replayed>;
export type SimulateCommand = z.output<typeof SimulateCommand>;
export type SimulatedRequest = z.output<typeof SimulatedRequest>;
export type Simulated = z.output<typeof Simulated>;
