// The mail queue. Mails are stored in the caller's transaction and sent after its commit, so a mail provider's outage
// does not block a sign-in.
import { randomUUIDv7 } from 'node:crypto';
import * as z from 'zod';
import { AccountKind } from '@edgeloom/contract/auth/auth.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import type { PrismaClient } from '../../generated/client.ts';
import type { Secrets } from '../secrets.ts';
import { write, type LetterName, type Letters } from './letters.ts';

/** A rendered mail, or a password reset request whose account is looked up later. */
export const QueuedMail = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    clientID: Id.nullable(),
    /** Codes are not sent after they expire. */
    until: z.coerce.date(),
    message: z.object({ to: z.string(), subject: z.string(), text: z.string(), html: z.string() }),
  }),
  z.object({ type: z.literal('reset'), kind: AccountKind, email: z.string(), until: z.coerce.date() }),
]);
export type QueuedMail = z.output<typeof QueuedMail>;

export type Queue = Pick<PrismaClient, 'outgoingMail'>;
export interface Addressee {
  email: string;
  language: string;
  clientId: string | null;
}

const DAY_MS = 86_400_000;
export const mailContext = (id: string) => `outgoing_mails/${id}`;

export type Mail = ReturnType<typeof openMail>;

export function openMail(secrets: Pick<Secrets, 'seal'>) {
  const put = async (tx: Queue, waiting: QueuedMail) => {
    const id = randomUUIDv7();
    await tx.outgoingMail.create({ data: { id, sealed: secrets.seal(JSON.stringify(waiting), mailContext(id)) } });
  };
  return {
    /** Sent after the caller's transaction commits. */
    async post<Name extends LetterName>(
      tx: Queue,
      { email, language, clientId }: Addressee,
      name: Name,
      values: Letters[Name],
      goodForMs = DAY_MS,
    ) {
      const until = new Date(Date.now() + goodForMs);
      await put(tx, { type: 'message', clientID: clientId, until, message: write(email, language, name, values) });
    },
    /** The same work whether or not the account exists. */
    postReset: (tx: Queue, { kind, email }: { kind: z.output<typeof AccountKind>; email: string }) =>
      put(tx, { type: 'reset', kind, email, until: new Date(Date.now() + DAY_MS / 24) }),
  };
}
