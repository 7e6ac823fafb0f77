// Webhooks: alerts as signed POST requests (standardwebhooks.com).
import * as z from 'zod';
import { AlertKind, AlertSeverity } from '../alerts/alerts.ts';
import { HttpUrl } from '../common/http-url.ts';
import { Id, paging, Text, Time } from '../common/common.ts';
import { AlertDeliveryError, AlertKinds } from '../notify-setting/notify-setting.ts';

export const MAX_WEBHOOKS = 10;
/** A message is retried for this long. */
export const RETRY_HOURS = 24;
/** In a page of deliveries, and resent by one call. */
export const MAX_DELIVERIES = 50;

const webhook = { name: Text, url: HttpUrl, enabled: z.boolean(), events: AlertKinds };
export const WebhookInput = z.object(webhook);
export const WebhookUpdate = z.object({ id: Id, ...webhook });
export const Webhook = z.object({
  id: Id,
  name: z.string(),
  url: z.string(),
  enabled: z.boolean(),
  events: z.array(AlertKind),
  lastError: AlertDeliveryError.nullable().describe('Of the last delivery. Null: delivered'),
  failedAt: Time.nullable(),
  createdAt: Time,
  updatedAt: Time,
});
export const NewWebhook = Webhook.extend({
  secret: z.string().describe('Signs deliveries: whsec_ and the key in Base64. Shown only once'),
});
export const WebhookQuery = paging(['createdAt', 'updatedAt', 'name']);

const AlertPhase = z.enum(['began', 'ended']);
/** One event of a delivery. */
export const AlertEvent = z.object({
  alertID: Id,
  kind: AlertKind,
  severity: AlertSeverity,
  phase: AlertPhase,
  name: z.string().describe('Of the object'),
  siteName: z.string().nullable(),
  at: Time,
});
/** The body of a request to a webhook. */
export const WebhookBody = z.object({
  type: z.literal('alerts'),
  timestamp: Time.describe('When the message was made'),
  data: z.object({ events: z.array(AlertEvent) }),
});

export const WebhookDelivery = z.object({
  id: Id.describe('The header webhook-id: the same for each attempt'),
  eventCount: z.int(),
  tries: z.int().describe('Since it was made or resent'),
  sentAt: Time.nullable().describe('Its last delivery'),
  failedAt: Time.nullable().describe('When the attempts ended without success'),
  nextTryAt: Time.nullable().describe('Null: no attempt follows'),
  lastError: AlertDeliveryError.nullable(),
  createdAt: Time,
});
export const WebhookDeliveryQuery = paging(['createdAt']).extend({
  pageSize: z.int().min(1).max(MAX_DELIVERIES).default(25),
});
export const DeliveryIds = z.object({ ids: z.array(Id).min(1).max(MAX_DELIVERIES) });

export type Webhook = z.output<typeof Webhook>;
export type WebhookInput = z.output<typeof WebhookInput>;
export type AlertEvent = z.output<typeof AlertEvent>;
export type WebhookDelivery = z.output<typeof WebhookDelivery>;
