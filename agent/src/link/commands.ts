// What the control plane may ask of a node. Repeating a command is harmless; one that comes too late is not begun.
import { PreheatCommand, PurgeCommand, ResyncCommand } from '@edgeloom/contract/edge/messages.ts';
import type { CommandReply, PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import { reason } from '../log.ts';

export interface Hands {
  /** Answers how many stored objects became unreachable. */
  purge: (order: PurgeOrder, withinMs: number) => Promise<number>;
  /** Answers how many came into the store, and what of the others. */
  preheat: (urls: readonly string[], withinMs: number) => Promise<{ fetched: number; error: string | null }>;
  resync: () => Promise<void>;
}

export type CommandName = 'purge' | 'preheat' | 'resync';

export function obey(name: CommandName, message: unknown, hands: Hands): Promise<CommandReply> {
  if (name === 'resync') {
    return answered(ResyncCommand.parse(message), async (left) => {
      await within(left, hands.resync());
      return 0;
    });
  }
  if (name === 'preheat') {
    const { urls, ...command } = PreheatCommand.parse(message);
    return answered(command, (left) => hands.preheat(urls, left));
  }
  const { id, deadline, ...order } = PurgeCommand.parse(message);
  return answered({ id, deadline }, (left) => hands.purge(order, left));
}

async function answered(
  { id, deadline }: Pick<PurgeCommand, 'id' | 'deadline'>,
  work: (leftMs: number) => Promise<number | { fetched: number; error: string | null }>,
): Promise<CommandReply> {
  const startedAt = performance.now();
  const reply = (objects: number, error: string | null): CommandReply => ({
    id,
    ok: error === null,
    error,
    tookMs: performance.now() - startedAt,
    objects,
  });
  const left = Date.parse(deadline) - Date.now();
  if (left <= 0) return reply(0, 'the deadline has passed');
  try {
    const done = await work(left);
    return typeof done === 'number' ? reply(done, null) : reply(done.fetched, done.error);
  } catch (error) {
    return reply(0, reason(error));
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    // setTimeout takes no more than 31 bits.
    timer = setTimeout(() => reject(new Error('not done by the deadline')), Math.min(ms, 2 ** 31 - 1));
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
