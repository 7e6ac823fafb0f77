// Sends by a tenant's mail server. The outbound policy applies, TLS is required unless the installation names the
// server, and time is limited: the server may be hostile.
import { connect, isIP, type Socket } from 'node:net';
import type { Particular } from '@edgeloom/contract/errors.ts';
import nodemailer from 'nodemailer';
import type { Env } from '../env.ts';
import type { EmailSetting, PrismaClient } from '../../generated/client.ts';
import { faultOf, guardedLookup, OutboundRefusal } from '../outbound-fetch.ts';
import type { Secrets } from '../secrets.ts';
import type { Message } from './transport.ts';

export interface MailServer {
  host: string;
  port: number;
  security: string;
  username: string;
  password: string | null;
  fromName: string;
  fromAddress: string;
}
type Settings = Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;

/** Shorter than the half minute for which a mail is leased. */
const PATIENCE_MS = 20_000;

export const mailPasswordContext = (clientId: string) => `email_settings/${clientId}/password`;

/** The mail server of a client. Null: it uses ours. */
export async function ownServer(
  db: PrismaClient,
  secrets: Pick<Secrets, 'open'>,
  clientId: string,
): Promise<MailServer | null> {
  const row = await db.emailSetting.findFirst({ where: { clientId, enabled: true } });
  return row && serverOf(row, secrets);
}

export const serverOf = ({ passwordSealed, ...row }: EmailSetting, secrets: Pick<Secrets, 'open'>): MailServer => ({
  ...row,
  password: passwordSealed === null ? null : secrets.open(passwordSealed, mailPasswordContext(row.clientId)),
});

/** Connects, starts TLS and signs in, like sending. */
export const verifyServer = (server: MailServer, settings: Settings) =>
  withTransport(server, settings, async (transport) => void (await transport.verify()));

export const sendBy = (server: MailServer, settings: Settings, message: Message) =>
  withTransport(server, settings, async (transport) => {
    const from = { name: server.fromName, address: server.fromAddress };
    await transport.sendMail({ from, ...message });
  });

type Transporter = Pick<ReturnType<typeof nodemailer.createTransport>, 'verify' | 'sendMail'>;

async function withTransport(server: MailServer, settings: Settings, work: (transport: Transporter) => Promise<void>) {
  const { host, port, security, username, password } = server;
  const sockets: Socket[] = [];
  const hangUp = (error?: Error) => sockets.forEach((socket) => socket.destroy(error));
  const transport = nodemailer.createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username !== '' && { auth: { user: username, pass: password ?? '' } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: PATIENCE_MS,
    getSocket: (_, done) => {
      const isEncrypted = security !== 'none';
      // Literal addresses skip the lookup, so they are checked here.
      const fault = isIP(host) ? faultOf(host, isEncrypted, settings) : null;
      if (fault) return done(new OutboundRefusal(fault), {});
      const opened = connect({ host, port, lookup: guardedLookup(isEncrypted, settings) });
      sockets.push(opened);
      opened.once('error', (error) => done(error, {}));
      opened.once('connect', () => {
        opened.removeAllListeners('error');
        done(null, { connection: opened });
      });
    },
  });
  // Limits the total time: a server that sends a byte a minute triggers no other timeout.
  const timer = setTimeout(() => hangUp(new Error('the mail server took too long')), PATIENCE_MS);
  try {
    await work(transport);
  } finally {
    clearTimeout(timer);
    hangUp();
  }
}

export interface MailFault extends Particular {
  /** The form field that the error belongs to. */
  path: 'host' | 'security' | 'password' | 'fromAddress';
  rule: 'address' | 'connection' | 'tls' | 'credential' | 'sender';
  message: string;
}

/** Maps an error to its form field. The server's text is shortened to one line. */
export function mailFault(error: unknown): MailFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ').slice(0, 300);
  if (error instanceof OutboundRefusal) return { path: 'host', rule: 'address', message };
  if (code === 'EAUTH') return { path: 'password', rule: 'credential', message };
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { path: 'fromAddress', rule: 'sender', message };
  if (code === 'ETLS' || /certificate|SSL|TLS/.test(message)) return { path: 'security', rule: 'tls', message };
  return { path: 'host', rule: 'connection', message };
}
