// The agent's environment variables, read once.
import * as z from 'zod';

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

export const Env = z.object({
  EDGELOOM_DIR: z.string().min(1).default('/var/lib/edgeloom').describe("The node's directory"),
  EDGELOOM_CONTROL: z.url().optional().describe('URL of the control plane; needed to join'),
  EDGELOOM_TOKEN: z.string().min(20).optional().describe('The join token; needed once'),
  EDGELOOM_ROLE: z
    .enum(['edge', 'monitor'])
    .default('edge')
    .describe('monitor: checks nodes from outside and serves no visitors. It needs no nginx'),
  EDGELOOM_LISTEN: list.optional().describe('Addresses to listen on, IPv6 in brackets. Default: every address'),
  EDGELOOM_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("PEM file of the authorities that verify origins' certificates. Default: the system's"),
  EDGELOOM_RELEASE_KEYS: z
    .string()
    .min(1)
    .default('/etc/edgeloom/release-keys.pem')
    .describe('PEM file of the public keys whose releases this node accepts'),
  EDGELOOM_FIREWALL: z
    .enum(['kernel', 'nginx'])
    .default('kernel')
    .describe("nginx: does not use the kernel's firewall, for machines that several nodes or other people share"),
  EDGELOOM_HOME: z.string().min(1).optional().describe('Set by the launcher: its folder, with the releases'),
  EDGELOOM_TRIAL: z.string().min(1).optional().describe('Set by the launcher: this release is on trial'),
  EDGELOOM_LOG_BYTES: z.coerce
    .number()
    .int()
    .min(1_000_000)
    .default(2_000_000_000)
    .describe('Bound of the access logs on disk, of each of the two nginx. The oldest are deleted first'),
  EDGELOOM_METRICS: z
    .string()
    .regex(/^(?:\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}$/, 'address:port')
    .optional()
    .describe('Address and port of GET /metrics for Prometheus, such as 127.0.0.1:9180. Default: not served'),
  EDGELOOM_DEMO_VISITORS: z
    .enum(['on', 'off'])
    .default('off')
    .describe('on: programs on 127.0.0.1 name the visitor in X-Demo-Visitor. Only for demos'),
  EDGELOOM_NGINX: z.string().min(1).default('nginx').describe('The nginx or OpenResty program'),
});
export type Env = z.output<typeof Env>;

export function readEnv(from: NodeJS.ProcessEnv = process.env): Env {
  // Compose files and unit files leave empty variables behind. They count as not set.
  const read = Env.safeParse(Object.fromEntries(Object.entries(from).filter(([, value]) => value !== '')));
  if (read.success) return read.data;
  throw new Error(read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
}
