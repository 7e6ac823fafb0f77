// Mails leave by SMTP, or into a folder where people try things out.
import { randomUUIDv7 } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import nodemailer from 'nodemailer';
import type { Env } from '../env.ts';
import { fail } from './fail.ts';

export interface Mail {
  send: (message: { to: string; subject: string; text: string }) => Promise<void>;
}

export function openMail({ MAIL_DIR, SMTP_URL, MAIL_FROM }: Pick<Env, 'MAIL_DIR' | 'SMTP_URL' | 'MAIL_FROM'>): Mail {
  if (SMTP_URL !== undefined) {
    const transport = nodemailer.createTransport({ url: SMTP_URL, connectionTimeout: 10_000, socketTimeout: 20_000 });
    return {
      send: async (message) => {
        await transport
          .sendMail({ from: MAIL_FROM, ...message })
          .catch((cause: unknown) => fail('SUPPLIER_FAILED', { extra: { supplier: 'smtp' }, cause }));
      },
    };
  }
  if (MAIL_DIR !== undefined) {
    const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
    return {
      send: async (message) => {
        const { message: raw } = await transport.sendMail({ from: MAIL_FROM, ...message });
        await mkdir(MAIL_DIR, { recursive: true, mode: 0o700 });
        await writeFile(path.join(MAIL_DIR, `${randomUUIDv7()}.eml`), raw, { mode: 0o600 });
      },
    };
  }
  const cause = new Error('neither SMTP_URL nor MAIL_DIR is set');
  return { send: async () => fail('SUPPLIER_FAILED', { extra: { supplier: 'smtp' }, cause }) };
}
