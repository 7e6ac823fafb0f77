import { Ids, paged } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import * as w from './webhooks.ts';

/** For root accounts only. */
export const webhooks = onClient('webhooks', {
  list:       get('webhooks', { can: 'webhook:read', query: w.WebhookQuery, reply: paged(w.Webhook) }),
  create:     post('webhook', { can: 'webhook:write', body: w.WebhookInput, reply: w.NewWebhook, fails: ['LIMIT_REACHED', 'DUPLICATED'] }),
  update:     put('webhook', { can: 'webhook:write', body: w.WebhookUpdate, reply: w.Webhook, fails: ['DUPLICATED'] }),
  remove:     del('webhooks', { can: 'webhook:write', body: Ids, reply: Ids }),
  deliveries: get('webhook/:webhookID/deliveries', { can: 'webhook:read', query: w.WebhookDeliveryQuery, reply: paged(w.WebhookDelivery) }),
  /** Deliveries that succeeded or whose attempts ended. */
  resend:     post('webhook/:webhookID/deliveries/resend', { can: 'webhook:write', limit: 'probe', body: w.DeliveryIds, reply: Ids }),
});
