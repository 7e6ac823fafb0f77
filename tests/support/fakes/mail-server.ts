// A mail server on a free port that stores what it receives.
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  from: string;
  to: string[];
  text: string;
  user: string | null;
}

export interface Smtp {
  port: number;
  received: ReceivedMail[];
  stop: () => Promise<void>;
}

export async function startSmtp({
  user = 'mailer',
  password = 'right',
  offersTls = false,
  refuses = false,
}: { user?: string; password?: string; offersTls?: boolean; refuses?: boolean } = {}): Promise<Smtp> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    // The server's self-signed certificate is not trusted.
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password: given }, _, done) =>
      username === user && given === password ? done(null, { user: username }) : done(new Error('wrong password')),
    onMailFrom: (_, __, done) => done(refuses ? new Error('no such sender here') : null),
    onData: (stream, { envelope, user: signedIn }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(parts).toString(),
          user: signedIn ?? null,
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    received,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
