// Sends what waits in the queue. Each process does; a mail is one process's at a time, and is due again if it dies.
import type { FastifyBaseLogger } from 'fastify';
import { mailContext, Waiting } from '../core/mail/queue.ts';
import { openTransport } from '../core/mail/transport.ts';
import type { Installation } from '../core/installation.ts';
import { mailReset } from '../modules/auth/mailed-tokens.ts';
import { listen } from '../node-link/listen.ts';

/** 30 seconds, then twice as long each time, up to four hours. */
const TAKE = `UPDATE outgoing_mails SET tries = tries + 1, due_at = now() + interval '30 seconds' * power(2, least(tries, 9))
  WHERE id = (SELECT id FROM outgoing_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, sealed`;
const AT_ONCE = 4;
const LOOK_AGAIN_MS = 10_000;

export function startMailDelivery(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  const { env, pool, secrets } = installation;
  const send = openTransport(env);
  let isStopping = false;
  let running: Promise<void> | null = null;
  let isWoken = false;

  async function drain() {
    while (!isStopping) {
      const { rows } = await pool.query<{ id: string; sealed: string }>(TAKE);
      const [mail] = rows;
      if (!mail) return;
      try {
        await deliver(Waiting.parse(JSON.parse(secrets.open(mail.sealed, mailContext(mail.id)))));
        await pool.query('DELETE FROM outgoing_mails WHERE id = $1', [mail.id]);
      } catch (error) {
        log.warn({ err: error, mail: mail.id }, 'mail not sent yet');
        await pool.query('UPDATE outgoing_mails SET last_error = $2 WHERE id = $1', [
          mail.id,
          String(error).slice(0, 500),
        ]);
      }
    }
  }

  async function deliver(waiting: Waiting) {
    if (waiting.until.getTime() < Date.now()) return;
    if (waiting.type === 'message') return send(waiting.message);
    await mailReset(installation, waiting);
  }

  const wake = () => {
    isWoken = true;
    running ??= (async () => {
      while (isWoken && !isStopping) {
        isWoken = false;
        await Promise.all(Array.from({ length: AT_ONCE }, drain)).catch((error: unknown) => {
          log.warn({ err: error }, 'the mail queue could not be read');
        });
      }
      running = null;
    })();
  };
  const listener = listen(env.DATABASE_URL, { mail: wake });
  const timer = setInterval(wake, LOOK_AGAIN_MS).unref();

  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await listener.stop();
      await running;
    },
  };
}
