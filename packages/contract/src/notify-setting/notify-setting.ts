// Where the alerts of an account are sent, and how often.
import * as z from 'zod';
import { AlertKind } from '../alerts/alerts.ts';
import { Time } from '../common/common.ts';
import { secret } from '../common/secret.ts';

export const AlertKinds = z.array(AlertKind).max(AlertKind.options.length);

/**
 * Why the last message was not delivered. status: the server's response was no success. token and chat: Telegram does
 * not know the token, or the bot may not write to the chat. secret: the stored secret must be entered again.
 * outdated: the message was resent after the ends of its alerts were delivered.
 */
export const AlertDeliveryError = z.enum([
  'connection',
  'timeout',
  'certificate',
  'policy',
  'status',
  'token',
  'chat',
  'secret',
  'outdated',
]);

export const TelegramInput = z.object({
  enabled: z.boolean(),
  token: secret(z.string().trim().min(1).max(256)).optional().describe("The bot's token. Left out: the stored one"),
  chatID: z
    .string()
    .trim()
    .regex(/^(-?\d{1,20}|@\w{4,64})?$/, 'a chat number or @channel')
    .describe('A number, or @name of a public channel. May be empty while it is off'),
  events: AlertKinds.describe('Users: only kinds of their sites are stored'),
});
export const TelegramSetting = z.object({
  enabled: z.boolean(),
  hasToken: z.boolean(),
  chatID: z.string(),
  events: z.array(AlertKind),
  lastError: AlertDeliveryError.nullable().describe('Of the last message. Null: delivered'),
  failedAt: Time.nullable(),
});
export const TelegramTest = z.object({ error: AlertDeliveryError.nullable().describe('Null: delivered') });

/** all: one message for everything that waits. kind: one message for each kind. */
export const AlertGrouping = z.enum(['all', 'kind']);
export const AlertFrequency = z.object({
  intervalMinutes: z
    .int()
    .min(0)
    .max(1440)
    .describe(
      'Between two messages about the same kind to a channel. Alerts that begin or end meanwhile are collected',
    ),
  grouping: AlertGrouping,
});

export type AlertDeliveryError = z.output<typeof AlertDeliveryError>;
export type TelegramInput = z.output<typeof TelegramInput>;
export type TelegramSetting = z.output<typeof TelegramSetting>;
export type TelegramTest = z.output<typeof TelegramTest>;
export type AlertFrequency = z.output<typeof AlertFrequency>;
