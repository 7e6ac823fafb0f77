// Access log lines on their way from a node to the control plane. A batch is a range of bytes of one file. The control
// plane adds its lines and stores the position reached in one transaction, so each line counts once even if a process
// is killed.
import * as z from 'zod';

/** Uncompressed size of a batch. Even incompressible lines fit a message of NATS. */
export const MAX_BATCH_BYTES = 512 * 1024;

const Position = z.int().min(0);

/**
 * On up.<node>.logs. An empty batch (`from` equals `to`) reports that all lines were sent. Older agents send none of
 * sessions.
 */
export const LogBatch = z.object({
  /** Identifies the file on its node, also after it was renamed. */
  file: z.string().regex(/^[\w.-]{1,64}$/),
  /** Type of the lines: LogLine, or SessionLine of forwards. Older agents send requests only. */
  kind: z.enum(['requests', 'sessions']).default('requests'),
  from: Position,
  to: Position,
  /** By the node's clock, in milliseconds since 1970. The control plane corrects times by the difference of clocks. */
  sentAt: Position,
  /** Whole lines, gzip, base64. */
  lines: z.base64().max(1024 * 1024),
});

/** The position from which the control plane wants the file's next lines. */
export const LogReply = z.object({ reached: Position });

const Text = z.string();
/** Bytes of one request or session: at most 8 TiB, so that the sums of merged batches stay below 2^62. */
const Count = z
  .int()
  .min(0)
  .max(2 ** 43);
/** One request, as the node's nginx logs it (agent/src/render/log-conf.ts). */
export const LogLine = z.object({
  /** Seconds since 1970. */
  time: z.number().min(0),
  /** 32 hexadecimal digits. */
  id: Text,
  /** Empty: refused before the site was known. */
  site: Text,
  domain: Text,
  host: Text,
  port: z.int().min(0).max(65_535),
  address: Text,
  method: Text,
  scheme: Text,
  httpVersion: Text,
  uri: Text,
  args: Text,
  status: z.int().min(0).max(999),
  bytes: Count,
  requestBytes: Count,
  /** Seconds. */
  requestTime: z.number().min(0),
  /** Seconds of each origin that was tried: `0.004, 0.120`. Empty: none was. */
  upstreamTime: Text,
  /** The origin that was contacted; empty when none was. */
  upstream: Text,
  /** nginx's cache status: HIT, MISS, EXPIRED … */
  cache: Text,
  userAgent: Text,
  referer: Text,
  /** Why the node refused the request, and the rule's id. */
  cause: Text,
  rule: Text,
  /** The decisions about the request (lua/edge/core/trails.lua). Older nodes do not send them. */
  trail: Text.default(''),
  /** JSON of the firewall's finding (lua/edge/waf/explain.lua). Older nodes do not send it. */
  waf: Text.default(''),
  /** A prefetch by the node itself, which proved it (lua/edge/core/preheat.lua). Older nodes do not say so. */
  isPreheat: z.boolean().default(false),
});

/** One layer-4 session at its end, as the node's second nginx logs it (agent/src/render/stream-conf.ts). */
export const SessionLine = z.object({
  time: z.number().min(0),
  site: Text,
  /** The forward's id. */
  port: Text,
  protocol: Text,
  /** The port of the node. */
  number: z.int().min(0).max(65_535),
  address: Text,
  /** nginx's: 200, or why the session was refused. */
  status: z.int().min(0).max(999),
  bytes: Count,
  requestBytes: Count,
  /** Seconds. */
  sessionTime: z.number().min(0),
  upstream: Text,
});

export type LogBatch = z.output<typeof LogBatch>;
export type LogReply = z.output<typeof LogReply>;
export type LogLine = z.output<typeof LogLine>;
export type SessionLine = z.output<typeof SessionLine>;
