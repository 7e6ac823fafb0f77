// Mails wait in the database until they have left: a provider that is away costs nobody a sign-in, and what a
// transaction says by mail is said only when it is committed.
import { randomUUIDv7 } from 'node:crypto';
import * as z from 'zod';
import { AccountKind } from '@edgeloom/contract/auth/auth.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import type { PrismaClient } from '../../generated/client.ts';
import type { Secrets } from '../secrets.ts';
import { write, type LetterName, type Letters } from './letters.ts';

/** Ready to send; or somebody's wish for a new password, of whom it is found out later whether they have an account. */
export const Waiting = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    clientID: Id.nullable(),
    /** Nobody wants a code that is no longer good. */
    until: z.coerce.date(),
    message: z.object({ to: z.string(), subject: z.string(), text: z.string(), html: z.string() }),
  }),
  z.object({ type: z.literal('reset'), kind: AccountKind, email: z.string(), until: z.coerce.date() }),
]);
export type Waiting = z.output<typeof Waiting>;

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
  const put = async (tx: Queue, waiting: Waiting) => {
    const id = randomUUIDv7();
    await tx.outgoingMail.create({ data: { id, sealed: secrets.seal(JSON.stringify(waiting), mailContext(id)) } });
  };
  return {
    /** Leaves when the caller's transaction is committed. */
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
    /** The same work whether there is such an account or not. */
    postReset: (tx: Queue, { kind, email }: { kind: z.output<typeof AccountKind>; email: string }) =>
      put(tx, { type: 'reset', kind, email, until: new Date(Date.now() + DAY_MS / 24) }),
  };
}
