// An operator's settings of a zone. They are nginx structure, so a change reaches nodes in waves.
import * as z from 'zod';
import { Id, Port, Text, Time } from '../common/common.ts';
import { Reason, RedirectCode, ZonePort } from '../zones/zones.ts';
import { noAntiCC, ZoneAntiCC, ZoneAntiCCInput } from '../zone-anti-cc/zone-anti-cc.ts';
import { open, ZoneFirewall, ZoneFirewallInput } from '../zone-firewall/zone-firewall.ts';
import {
  ownAddresses,
  VisitorAddress,
  VisitorAddressInput,
  withAllowedPorts,
} from '../visitor-address/visitor-address.ts';
import { Ipset, noIpset } from '../ipset/ipset.ts';
import { CodedMessageOrNull } from '../rollouts/messages.ts';
import { snippetParts } from './directive-allowlist.ts';
import { snippetRules } from './snippet.ts';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

export const Resource = z.object({
  workerProcesses: z.int().min(0).max(256).describe('0: one per core'),
  workerConnections: z.int().min(64).max(1_000_000).describe('Of each worker'),
  cacheBytes: z.int().min(0).max(1e15).describe('0: no limit'),
  cacheKeyBytes: z
    .int()
    .min(MiB)
    .max(16 * GiB)
    .describe('Memory for the index of what is cached; 1 MiB knows 8,000 objects'),
  cacheInactiveSeconds: z.int().min(60).max(31_536_000).describe('What nobody asks for this long is dropped'),
  bodyBytes: z.int().min(0).max(1e12).describe('Of the largest request body; 0: no limit'),
});
/** Fewer connections would refuse visitors. Older zones may have lower values. */
export const ResourceInput = Resource.extend({
  workerConnections: Resource.shape.workerConnections.min(1024),
});
export const SnippetPart = z.enum(snippetParts);
export const Snippet = z.string().max(65_536);
export const Nginx = z.object({
  enable: z.boolean().describe('Whether the snippets are used'),
  http: Snippet,
  stream: Snippet,
  worker: Snippet,
  custom: Snippet,
});

/** The content of a zone version, besides ports and redirect code. */
export const ZoneSettings = z.object({
  http2: z.boolean(),
  http3: z.boolean(),
  soakSeconds: z.int().min(0).max(86_400).describe('How long a change is watched on some nodes before more have it'),
  resource: Resource,
  nginx: Nginx,
  firewall: ZoneFirewall,
  antiCC: ZoneAntiCC,
  ipset: Ipset,
  visitorAddress: VisitorAddress.overwrite(withAllowedPorts),
});
const usual: z.output<typeof ZoneSettings> = {
  http2: true,
  http3: true,
  soakSeconds: 30,
  resource: {
    workerProcesses: 0,
    workerConnections: 16_384,
    cacheBytes: 10 * GiB,
    cacheKeyBytes: 64 * MiB,
    cacheInactiveSeconds: 30 * 86_400,
    bodyBytes: 0,
  },
  nginx: { enable: false, http: '', stream: '', worker: '', custom: '' },
  firewall: open,
  antiCC: noAntiCC,
  ipset: noIpset,
  visitorAddress: ownAddresses,
};
/** Stored settings, completed with defaults. */
export const settingsIn = (stored: unknown): z.output<typeof ZoneSettings> => ZoneSettings.parse(completed(stored));
/** A stored version, completed with defaults. */
export const contentIn = (stored: unknown): z.output<typeof ZoneContent> => ZoneContent.parse(completed(stored));

const Part = z.looseObject({}).default({});
const Stored = z.looseObject({
  resource: Part,
  nginx: Part,
  firewall: Part,
  antiCC: Part,
  ipset: Part,
  visitorAddress: Part,
});
function completed(stored: unknown): unknown {
  const given = Stored.parse(stored);
  return {
    ...usual,
    ...given,
    resource: { ...usual.resource, ...given.resource },
    nginx: { ...usual.nginx, ...given.nginx },
    firewall: { ...usual.firewall, ...given.firewall },
    antiCC: { ...usual.antiCC, ...given.antiCC },
    ipset: { ...usual.ipset, ...given.ipset },
    visitorAddress: { ...usual.visitorAddress, ...given.visitorAddress },
  };
}

export const ZoneContent = ZoneSettings.extend({
  forceSSLRedirectCode: RedirectCode,
  ports: z.array(z.object({ id: Id, port: Port, tls: z.boolean() })).max(1000),
});

export const Enable = z.object({ enable: z.boolean(), reason: Reason });

/** Kill switches: disabled for all sites of a zone at once, without waves. */
export const SwitchName = z.enum(['compression', 'image', 'http3', 'antiCC', 'waf']);
export const ZoneSwitch = z.object({
  name: SwitchName,
  off: z.boolean(),
  reason: z.string(),
  author: z.string(),
  until: Time.nullable().describe('It is on again by itself; null: until somebody switches it on'),
  since: Time.nullable(),
});
export const SwitchInput = z.object({
  name: SwitchName,
  off: z.boolean(),
  reason: Text,
  until: Time.nullable().default(null),
});

/** `trial`: on some nodes. `past`: was live. `withdrawn`: rolled back. `replaced`: included in a newer change. */
export const VersionState = z.enum(['trial', 'live', 'past', 'withdrawn', 'replaced']);
/** `field` is a path: `resource.bodyBytes`, `ports`, `nginx.http`. */
export const SettingChange = z.object({ field: z.string(), before: z.string(), after: z.string() });
export const ZoneVersion = z.object({
  id: Id,
  version: z.int(),
  state: VersionState,
  author: z.string(),
  reason: z.string(),
  note: z.string().describe('Why it went back'),
  messageCode: CodedMessageOrNull.describe('The note as a code with values. Null for text of a person'),
  changes: z.array(SettingChange).max(100).describe('From the version before'),
  createdAt: Time,
  settledAt: Time.nullable(),
});
export const Trial = z.object({ version: z.int(), nodes: z.int(), of: z.int(), since: Time });

export const Withdrawn = ZoneVersion.pick({ version: true, settledAt: true, messageCode: true }).extend({
  message: z.string().describe('Why it went back'),
});

export const AllSettings = ZoneSettings.extend({
  forceSSLRedirectCode: RedirectCode,
  ports: z.array(ZonePort),
  switches: z.array(ZoneSwitch),
  version: z.int().describe('Of what is set; 0: nothing was ever set'),
  author: z.string().describe('Who set it; empty where that was before the first change'),
  changedAt: Time.nullable().describe('Since when it is set'),
  trial: Trial.nullable().describe('A change that only some nodes have so far'),
  withdrawn: Withdrawn.nullable().describe('The newest change, where it went back'),
});

/** A drafted change. Omitted parts stay unchanged. */
export const ConfigDraft = z.object({
  http2: z.boolean().optional(),
  http3: z.boolean().optional(),
  soakSeconds: z.int().min(0).max(86_400).optional(),
  resource: ResourceInput.optional(),
  nginx: Nginx.partial().optional(),
  firewall: ZoneFirewallInput.optional(),
  antiCC: ZoneAntiCCInput.optional(),
  ipset: Ipset.optional(),
  visitorAddress: VisitorAddressInput.optional(),
  forceSSLRedirectCode: RedirectCode.optional(),
  ports: z
    .array(
      z.object({
        id: Id.optional().describe('Of a port that stays or changes. Absent: the port with this number, or a new one'),
        port: Port,
        tls: z.boolean(),
      }),
    )
    .max(100)
    .optional(),
});
export const SnippetFault = z.object({
  part: SnippetPart,
  line: z.int(),
  column: z.int(),
  rule: z.enum(snippetRules),
  about: z.string().describe("The invalid word, or nginx's own error message"),
});
export const CheckState = z.enum(['passed', 'failed', 'missing']);
export const ConfigPreview = z.object({
  changes: z.array(SettingChange),
  faults: z.array(SnippetFault),
  checks: z.array(
    z.object({
      name: z.enum(['edge', 'relay', 'forwards']),
      state: CheckState.describe('missing: there is no nginx here that could say'),
      nginx: z.string().describe('Which one was asked'),
      tookMs: z.int(),
    }),
  ),
  reload: z.boolean().describe('Whether nodes reload nginx for it'),
  nodes: z.int().describe('That it would go to; 0 where none would notice'),
  files: z
    .array(z.object({ path: z.string(), before: z.string(), after: z.string() }))
    .max(50)
    .describe('Those that differ'),
});

/** Between any two versions. */
export const ConfigDifference = ConfigPreview.pick({ changes: true, files: true });

export const NginxDefault = z.object({ part: SnippetPart, content: Snippet });

export type Resource = z.output<typeof Resource>;
export type Nginx = z.output<typeof Nginx>;
export type ZoneSettings = z.output<typeof ZoneSettings>;
export type ZoneContent = z.output<typeof ZoneContent>;
export type AllSettings = z.output<typeof AllSettings>;
export type ZoneSwitch = z.output<typeof ZoneSwitch>;
export type SwitchName = z.output<typeof SwitchName>;
export type SwitchInput = z.output<typeof SwitchInput>;
export type ZoneVersion = z.output<typeof ZoneVersion>;
export type SettingChange = z.output<typeof SettingChange>;
export type ConfigDraft = z.output<typeof ConfigDraft>;
export type ConfigPreview = z.output<typeof ConfigPreview>;
export type ConfigDifference = z.output<typeof ConfigDifference>;
export type SnippetFaultAt = z.output<typeof SnippetFault>;
