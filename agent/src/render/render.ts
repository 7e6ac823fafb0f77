// Renders a zone's structure into the files of one nginx tree. Pure: same input, same bytes.
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

/** The facts about a machine that rendering needs. */
export type HostFacts = {
  /** The node's directory, absolute. */
  dir: string;
  /** The folder that holds edge/, absolute. */
  luaDir: string;
  /** Addresses to listen on, IPv6 in brackets. */
  listen: string[];
  /** The user of workers. Null when nginx does not start as root. */
  user: string | null;
  capabilities: Capabilities;
  /** Name servers for origin names: an address, IPv6 in brackets, with an optional port. */
  resolvers: string[];
  /** The kernel drops no packets here, so nginx rejects instead. */
  refuses?: boolean;
  /** Below this free disk space nothing is cached. */
  cacheReserveBytes?: number;
  /** Certificate authorities for origins. Null when this machine has none. */
  caBundle: string | null;
};

export type TreeInput = { zone: ZoneDoc; node: NodeDoc | null; generation: number; host: HostFacts };
/** `host`: the machine's facts, without capabilities that the zone disabled. */
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
