// Mails that a test app has written to its folder.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { eventually } from './eventually.ts';

const Mail = z.object({ to: z.string(), subject: z.string(), text: z.string(), at: z.string() });
export type Mail = z.output<typeof Mail>;

/** Mails to this address, newest first. */
export async function mailsTo(dir: string, email: string): Promise<Mail[]> {
  const files = (await readdir(dir))
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .toReversed();
  const mails = await Promise.all(
    files.map(async (file) => Mail.parse(JSON.parse(await readFile(path.join(dir, file), 'utf8')))),
  );
  return mails.filter(({ to }) => to === email);
}

/** Waits for a mail to this address that matches, and returns the newest. */
export const mailTo = (dir: string, email: string, words: RegExp = /./): Promise<Mail> =>
  eventually(async () => {
    const found = (await mailsTo(dir, email)).find(({ subject, text }) => words.test(subject) || words.test(text));
    if (!found) throw new Error(`no mail to ${email} with ${words}`);
    return found;
  });

export const codeIn = ({ text }: Mail): string => /\b\d{6}\b/.exec(text)?.[0] ?? '';
export const tokenIn = ({ text }: Mail): string => /token=([\w-]+)/.exec(text)?.[1] ?? '';
