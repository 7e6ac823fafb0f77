import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Capabilities } from './capabilities.ts';
import type { Snippets } from './snippets.ts';

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
  /** Programs of this machine name the visitor. */
  hasDemoVisitors?: boolean;
  /** Below this free disk space nothing is cached. */
  cacheReserveBytes?: number;
  /** Certificate authorities for origins. Null when this machine has none. */
  caBundle: string | null;
};

export type TreeInput = { zone: ZoneDoc; node: NodeDoc | null; generation: number; host: HostFacts };
/** `host`: the machine's facts, without capabilities that the zone disabled. */
export type RenderInput = TreeInput & { snippets: Snippets };
