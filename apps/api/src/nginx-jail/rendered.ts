// The nginx files of a zone's document, made by the nodes' own pure renderer for each form of tree.
import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import type { Capabilities } from '@edgeloom/agent/render/capabilities.ts';
import type { HostFacts } from '@edgeloom/agent/render/input.ts';
import { renderTree } from '@edgeloom/agent/render/render.ts';
import { snippetFiles, snippetsOf } from '@edgeloom/agent/render/snippets.ts';
import { forwardsConf } from '@edgeloom/agent/render/stream-conf.ts';
import type { NodeDoc, PortDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';

export const forms = ['edge', 'relay', 'forwards'] as const;
export type Form = (typeof forms)[number];

export interface Place {
  dir: string;
  luaDir: string;
  capabilities: Capabilities;
}

/** For a representative node: machine-specific values are equal before and after a change. */
export function rendered(form: Form, zone: ZoneDoc, { dir, luaDir, capabilities }: Place): Map<string, string> {
  const host: HostFacts = {
    dir,
    luaDir,
    capabilities,
    listen: ['127.0.0.1'],
    user: null,
    resolvers: ['127.0.0.1'],
    caBundle: null,
  };
  if (form === 'forwards') {
    const snippets = snippetsOf(zone);
    const worker = { ...zone.worker, processes: zone.worker.processes || cpus().length };
    const main = forwardsConf({ forwards: [{ port, origins }], worker, snippets, generation: 1, host, dir });
    return new Map([['nginx.conf', main.text], ...snippetFiles(snippets, ['stream'])]);
  }
  const node: NodeDoc | null =
    form === 'relay' ? { kind: 'node', id: NODE, enabled: true, cacheMaxBytes: 0, relayPort: 29_999 } : null;
  return renderTree({ zone, node, generation: 1, host });
}

const NODE = randomUUID();
const origins = [{ address: '127.0.0.1', port: 9, weight: 1, backup: false }];
const port: PortDoc = {
  kind: 'port',
  id: NODE,
  siteID: NODE,
  port: 29_998,
  protocol: 'tcp',
  acceptProxy: false,
  sendProxy: false,
  method: 'roundRobin',
  maxFails: 1,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  idleTimeoutSeconds: 600,
  upstreams: [{ id: NODE, address: '127.0.0.1', port: 9, weight: 1, backup: false }],
};
