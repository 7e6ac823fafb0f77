// Sends queued mails. Runs in every process with a lease per mail. A client's mails use its own server, and ours after
// two failures: codes are valid for ten minutes, and a wrong setting must not lock its owner out.
import type { FastifyBaseLogger } from 'fastify';
import { mailFault, ownServer, sendBy, type MailServer } from '../core/mail/own-server.ts';
import { mailContext, QueuedMail } from '../core/mail/queue.ts';
import { openTransport } from '../core/mail/transport.ts';
import type { Installation } from '../core/installation.ts';
import { mailReset } from '../modules/auth/mailed-tokens.ts';
import { titleOf } from '../modules/branding/shown-branding.ts';
import { listen } from '../core/listen.ts';

/** Retries after 30 seconds, doubling up to four hours. */
const TAKE = `UPDATE outgoing_mails SET tries = tries + 1, due_at = now() + interval '30 seconds' * power(2, least(tries, 9))
  WHERE id = (SELECT id FROM outgoing_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, sealed, tries`;
const PUT_BACK = `UPDATE outgoing_mails SET tries = tries - 1, due_at = now() + interval '1 second' WHERE id = $1`;
const WORKED = `UPDATE email_settings SET last_error = NULL, failed_at = NULL WHERE client_id = $1 AND failed_at IS NOT NULL`;
const FAILED = `UPDATE email_settings SET last_error = $2, failed_at = now() WHERE client_id = $1`;
const AT_ONCE = 4;
const LOOK_AGAIN_MS = 10_000;
const OWN_SERVER_TRIES = 2;
const LANES_AT_MOST = 50;

interface Mail {
  id: string;
  sealed: string;
  tries: number;
}

export function startMailDelivery(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  const { env, db, pool, secrets } = installation;
  const send = openTransport(env);
  let isStopping = false;
  let running: Promise<void> | null = null;
  let isWoken = false;
  /** One lane per client server, so that a slow server delays only its own mails. */
  const lanes = new Map<string, Promise<void>>();

  async function drain() {
    while (!isStopping) {
      const { rows } = await pool.query<Mail>(TAKE);
      const [mail] = rows;
      if (!mail) return;
      await settle(mail, async () => {
        const waiting = QueuedMail.parse(JSON.parse(secrets.open(mail.sealed, mailContext(mail.id))));
        return deliver(mail, waiting);
      });
    }
  }

  /** Deletes a sent mail and records an error. Mails sent by another process are left alone. */
  async function settle({ id }: Mail, leave: () => Promise<'left' | 'elsewhere'>) {
    try {
      if ((await leave()) === 'left') await pool.query('DELETE FROM outgoing_mails WHERE id = $1', [id]);
    } catch (error) {
      log.warn({ err: error, mail: id }, 'mail not sent yet');
      await pool.query('UPDATE outgoing_mails SET last_error = $2 WHERE id = $1', [id, String(error).slice(0, 500)]);
    }
  }

  async function deliver(mail: Mail, waiting: QueuedMail): Promise<'left' | 'elsewhere'> {
    if (waiting.until.getTime() < Date.now()) return 'left';
    if (waiting.type === 'reset') {
      await mailReset(installation, waiting);
      return 'left';
    }
    const { clientID, message } = waiting;
    const server = clientID !== null && mail.tries <= OWN_SERVER_TRIES ? await ownServer(db, secrets, clientID) : null;
    if (!server || clientID === null) {
      await send(message, clientID === null ? null : await titleOf(db, clientID));
      return 'left';
    }
    if (lanes.has(clientID) || lanes.size >= LANES_AT_MOST) {
      await pool.query(PUT_BACK, [mail.id]);
      setTimeout(wake, 1100).unref();
    } else {
      const lane = settle(mail, async () => {
        await sendByOwn(clientID, server, message);
        return 'left';
      }).catch((error: unknown) => log.warn({ err: error }, 'a mail could not be settled'));
      lanes.set(
        clientID,
        lane.then(() => void lanes.delete(clientID)),
      );
    }
    return 'elsewhere';
  }

  /** The client's mail setting shows whether its server accepts mails. */
  async function sendByOwn(clientId: string, server: MailServer, message: Parameters<typeof send>[0]) {
    try {
      await sendBy(server, env, message);
      await pool.query(WORKED, [clientId]);
    } catch (error) {
      await pool.query(FAILED, [clientId, mailFault(error).message]);
      throw error;
    }
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
      await Promise.all(lanes.values());
    },
  };
}
