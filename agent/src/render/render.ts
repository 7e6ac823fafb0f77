// A zone's structure as the files of one nginx tree. Pure: same input, same bytes.
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { adminConf } from './admin-conf.ts';
import type { Capabilities } from './capabilities.ts';
import { hopConf } from './hop-conf.ts';
import { listenersConf } from './listeners-conf.ts';
import { logConf } from './log-conf.ts';
import { nginxConf } from './nginx-conf.ts';
import { snippetFiles, snippetsOf } from './snippets.ts';
import type { Snippets } from './snippets.ts';
import { simulateConf } from './simulate-conf.ts';

/** What the renderer has to know of the machine. */
export type HostFacts = {
  /** The node's directory, absolute. */
  dir: string;
  /** The folder that holds edge/, absolute. */
  luaDir: string;
  /** Addresses to listen on, IPv6 in brackets. */
  listen: string[];
  /** Whom the workers run as; null when nginx is not started as root. */
  user: string | null;
  capabilities: Capabilities;
  /** Name servers that origin names are asked of: an address, IPv6 in brackets, with an optional port. */
  resolvers: string[];
  /** Its kernel drops no packets for us: nginx refuses whom it would have dropped. */
  refuses?: boolean;
  /** With less free space on its disk nothing is stored in the cache. */
  cacheReserveBytes?: number;
  /** The authorities that certificates of origins are held against; null when this machine has none. */
  caBundle: string | null;
};

export type TreeInput = { zone: ZoneDoc; node: NodeDoc | null; generation: number; host: HostFacts };
/** `host`: as it is, without what the zone has switched off. */
export type RenderInput = TreeInput & { snippets: Snippets };

/** Relative path → content. */
export function renderTree({ host, ...rest }: TreeInput): Map<string, string> {
  const { capabilities } = host;
  if (!capabilities.lua) throw new Error('this nginx has no Lua module');
  const webp = capabilities.webp && rest.zone.off?.includes('image') !== true;
  const input = {
    ...rest,
    host: { ...host, capabilities: { ...capabilities, webp } },
    snippets: snippetsOf(rest.zone),
  };
  return new Map([
    ...snippetFiles(input.snippets, ['main', 'events', 'shared', 'visitors', 'origins']),
    ['admin.conf', adminConf(input).text],
    ['hop.conf', hopConf(input).text],
    ['listeners.conf', listenersConf(input).text],
    ['log.conf', logConf(input).text],
    ['nginx.conf', nginxConf(input).text],
    ['simulate.conf', simulateConf(input).text],
  ]);
}
