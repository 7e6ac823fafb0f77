// Simulated requests on a node (cmd.<node>.simulate).
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { DocKey } from './documents.ts';

const Fields = z.array(z.tuple([z.string().max(256), z.string().max(16_384)])).max(100);

export const SimulatedRequest = z.object({
  scheme: z.enum(['http', 'https']),
  port: Port,
  method: z.string().max(32),
  host: z.string().max(300),
  path: z.string().max(8192),
  headers: Fields,
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

export type SimulateCommand = z.output<typeof SimulateCommand>;
export type SimulatedRequest = z.output<typeof SimulatedRequest>;
export type Simulated = z.output<typeof Simulated>;
