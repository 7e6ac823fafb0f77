// The tree of the second nginx: its configuration and a note for the agent that finds it running.
import { cpus } from 'node:os';
import type { PortDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import * as z from 'zod';
import { nameOf } from '../nginx/sockets.ts';
import type { Socket } from '../nginx/sockets.ts';
import type { Tree, Trees } from '../nginx/trees.ts';
import type { HostFacts } from '../render/input.ts';
import { snippetFiles, snippetsOf } from '../render/snippets.ts';
import { forwardsConf } from '../render/stream-conf.ts';
import type { Forward } from '../render/stream-conf.ts';
import { namesIn } from './choose.ts';

const Note = z.object({
  /** The sockets it listens on. */
  sockets: z.array(z.string()),
  /** The addresses of each name. */
  names: z.record(z.string(), z.array(z.string())),
});
type Note = z.output<typeof Note>;
const NOTE = 'forwards.json';

interface Input {
  forwards: Forward[];
  zone: ZoneDoc;
  addressesOf: (name: string) => readonly string[];
  generation: number;
  host: HostFacts;
  /** The directory of this nginx. */
  dir: string;
}

export function forwardsTree({ forwards, zone, addressesOf, generation, host, dir }: Input): Tree {
  const worker = { ...zone.worker, processes: zone.worker.processes || cpus().length };
  const ports = forwards.map(({ port }) => port);
  const snippets = snippetsOf(zone);
  const note: Note = {
    sockets: ports
      .flatMap((port) => socketsOf(port, host))
      .map(nameOf)
      .sort(),
    names: Object.fromEntries([...namesIn(ports)].sort().map((name) => [name, [...addressesOf(name)]])),
  };
  return new Map([
    ['nginx.conf', forwardsConf({ forwards, worker, snippets, generation, host, dir }).text],
    ...snippetFiles(snippets, ['stream']),
    [NOTE, `${JSON.stringify(note)}\n`],
  ]);
}

/** The note of the tree that last served. A lost or damaged note only costs one evaluation. */
export async function readNote(trees: Trees): Promise<Note> {
  const good = await trees.marked('good');
  const text = good === null ? undefined : (await trees.read(good)).get(NOTE);
  try {
    return Note.parse(JSON.parse(text ?? ''));
  } catch {
    return { sockets: [], names: {} };
  }
}

export const socketsOf = ({ protocol, port }: PortDoc, { listen }: Pick<HostFacts, 'listen'>): Socket[] =>
  listen.map((address) => ({ protocol, address, port }));
