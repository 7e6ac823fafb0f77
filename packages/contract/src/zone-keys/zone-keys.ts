import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

export const ZoneKeyState = z.enum(['waiting', 'delivering', 'sealing', 'retiring', 'done', 'dropped']);
export const ZoneKeyCause = z.enum(['asked', 'nodeLeft']);

const NodeAtKey = z.object({ id: Id, name: z.string(), connected: z.boolean() });

/** A change of a zone's key. */
export const ZoneKeyChange = z.object({
  id: Id,
  state: ZoneKeyState.describe('dropped: another took its place before anything was sealed by its key'),
  cause: ZoneKeyCause.describe('nodeLeft: a node that knows the key is none of the zone any more'),
  reason: z.string().describe('Of `nodeLeft` the name of that node'),
  author: z.string(),
  documents: z.int().describe('To be sealed anew'),
  sealed: z.int().describe('Of those: done, or on their way'),
  missing: z.array(NodeAtKey).describe('Nodes that it waits for, or that will get the key when they are back'),
  createdAt: Time,
  since: Time.describe('Of its state'),
  endedAt: Time.nullable(),
});

export const ZoneKey = z.object({
  since: Time.describe('By which documents are sealed since then'),
  current: ZoneKeyChange.nullable().describe('Under way, or waiting'),
  next: ZoneKeyChange.nullable().describe('Begins once that has ended'),
  last: ZoneKeyChange.nullable().describe('The last one that has ended'),
  tooOld: z.array(NodeAtKey).describe('Nodes whose agents cannot take another key: they hold it up'),
});
export type ZoneKey = z.output<typeof ZoneKey>;
export type ZoneKeyChange = z.output<typeof ZoneKeyChange>;
