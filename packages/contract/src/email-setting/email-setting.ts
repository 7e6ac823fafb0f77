import * as z from 'zod';
import { Port, Time } from '../common/common.ts';
import { HostAddress } from '../common/net.ts';
import { secret } from '../common/secret.ts';

const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .refine((text) => !/\p{Cc}/u.test(text), { message: 'one line' });

export const MailSecurity = z.enum(['tls', 'starttls', 'none']);

export const EmailSettingInput = z.object({
  enabled: z.boolean().describe('Off: mails leave by the installation’s own server'),
  host: HostAddress,
  port: Port,
  security: MailSecurity.describe('none only to servers that the installation names as its own'),
  username: line(256).describe('Empty: the server asks for none'),
  password: secret(z.string().min(1).max(512))
    .optional()
    .describe('Left out: it stays, as long as it goes to the same server'),
  fromName: line(64),
  fromAddress: z.email().max(254),
});
export const EmailSetting = EmailSettingInput.omit({ password: true }).extend({
  hasPassword: z.boolean(),
  lastError: z.string().nullable().describe('Why the last mail did not leave by this server; null: it did'),
  failedAt: Time.nullable(),
  updatedAt: Time,
});

export type MailSecurity = z.output<typeof MailSecurity>;
export type EmailSetting = z.output<typeof EmailSetting>;
export type EmailSettingInput = z.output<typeof EmailSettingInput>;
