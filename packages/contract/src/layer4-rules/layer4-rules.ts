// Rules of the ports that a site forwards (layer 4): at most one of each kind per port.
import * as z from 'zod';
import { Id, paging, Port as AnyPort, Time } from '../common/common.ts';
import type { ErrorMessage } from '../messages.ts';
import { ForwardPort } from '../ports/ports.ts';

/** Rules of one kind, including those of ports that are no longer forwarded. */
export const MAX_LAYER4_RULES = 250;

const Place = z.literal([1, 2]);
const position = {
  port: ForwardPort.describe('A port that the site forwards'),
  blackPos: Place.default(2).describe('Place of the black lists. 1 comes first'),
  whitePos: Place.default(1).describe('Place of the white lists. In the first place they exempt from the black lists'),
};
function checkPlaces({ blackPos, whitePos }: { blackPos: number; whitePos: number }, ctx: z.RefinementCtx): void {
  if (blackPos === whitePos)
    ctx.addIssue({
      code: 'custom',
      path: ['whitePos'],
      message: 'one list is first, the other second' satisfies ErrorMessage,
    });
}
export const Layer4PositionInput = z.object(position).superRefine(checkPlaces);
export const Layer4PositionUpdate = z.object({ id: Id, ...position }).superRefine(checkPlaces);
export const Layer4Position = z.object({
  id: Id,
  port: AnyPort,
  blackPos: Place,
  whitePos: Place,
  isForwarded: z.boolean().describe('False: the site no longer forwards the port, so the rule has no effect'),
  createdAt: Time,
  updatedAt: Time,
});

/** nginx accepts no higher limit. An IPv4 address has no more ports to connect from. */
const MAX_CONNECTIONS = 65_535;
const limitConn = {
  port: ForwardPort.describe('A port that the site forwards with TCP'),
  max: z
    .int()
    .min(1)
    .max(MAX_CONNECTIONS)
    .describe('Open connections of one visitor at one node. Lower limits of the node itself apply too'),
  burst: z
    .int()
    .min(0)
    .max(MAX_CONNECTIONS)
    .default(0)
    .describe(`Connections above \`max\` that are still admitted. Both together: at most ${MAX_CONNECTIONS}`),
  delay: z.int().min(0).max(10_000).default(0).describe('Milliseconds. Stored only: nodes admit the burst immediately'),
  enabled: z.boolean().default(true),
};
function checkSum({ max, burst }: { max: number; burst: number }, ctx: z.RefinementCtx): void {
  if (max + burst > MAX_CONNECTIONS)
    ctx.addIssue({ code: 'custom', path: ['burst'], message: 'together at most 65,535' satisfies ErrorMessage });
}
export const Layer4LimitConnInput = z.object(limitConn).superRefine(checkSum);
export const Layer4LimitConnUpdate = z.object({ id: Id, ...limitConn }).superRefine(checkSum);
export const Layer4LimitConn = z.object({
  id: Id,
  port: AnyPort,
  max: z.int(),
  burst: z.int(),
  delay: z.int(),
  enabled: z.boolean(),
  isForwarded: z.boolean().describe('False: the site no longer forwards the port with TCP, so the limit has no effect'),
  createdAt: Time,
  updatedAt: Time,
});

export const Layer4RuleQuery = paging(['createdAt', 'updatedAt']);

export type Layer4Position = z.output<typeof Layer4Position>;
export type Layer4PositionInput = z.output<typeof Layer4PositionInput>;
export type Layer4LimitConn = z.output<typeof Layer4LimitConn>;
export type Layer4LimitConnInput = z.output<typeof Layer4LimitConnInput>;
