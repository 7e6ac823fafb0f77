// Sends mails by SMTP, or into a folder for trying things out.
import { randomUUIDv7 } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import nodemailer from 'nodemailer';
import parseAddress from 'nodemailer/lib/addressparser';
import type { Env } from '../env.ts';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
}
/** `name` replaces the sender's name for a client. The address stays. */
export type Transport = (message: Message, name: string | null) => Promise<void>;

export function openTransport({
  MAIL_DIR,
  SMTP_URL,
  MAIL_FROM,
}: Pick<Env, 'MAIL_DIR' | 'SMTP_URL' | 'MAIL_FROM'>): Transport {
  if (SMTP_URL !== undefined) {
    const transport = nodemailer.createTransport({ url: SMTP_URL, connectionTimeout: 10_000, socketTimeout: 20_000 });
    return async (message, name) => void (await transport.sendMail({ from: sender(MAIL_FROM, name), ...message }));
  }
  if (MAIL_DIR !== undefined) return intoFolder(MAIL_DIR, MAIL_FROM);
  return () => Promise.reject(new Error('neither SMTP_URL nor MAIL_DIR is set'));
}

const sender = (from: string, name: string | null) => {
  const [own] = parseAddress(from, { flatten: true });
  return own && name !== null ? { name, address: own.address } : from;
};

/** Writes each mail twice: as sent, and as the admin console's mailbox shows it. */
function intoFolder(dir: string, from: string): Transport {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return async (message, name) => {
    const { message: raw } = await transport.sendMail({ from: sender(from, name), ...message });
    const file = path.join(dir, randomUUIDv7());
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(`${file}.eml`, raw, { mode: 0o600 });
    const { to, subject, text } = message;
    await writeFile(`${file}.tmp`, JSON.stringify({ to, subject, text, at: new Date() }), { mode: 0o600 });
    await rename(`${file}.tmp`, `${file}.json`);
  };
}
