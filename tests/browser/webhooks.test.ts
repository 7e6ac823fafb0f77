// A webhook, from its secret to its deliveries.
import { WebhookBody } from '@edgeloom/contract/webhooks/webhooks.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { deliverAlerts, raiseAlerts } from '../support/services/background-work.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let receiver: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  receiver = await startOrigin({});
  receiver.on('/hook', { status: 500 });
  onEnd(() => receiver.stop());
  consoles = await startConsoles({ ORIGIN_ALLOW: '127.0.0.0/8' });
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

test('an operator adds a webhook, stores its secret, and sends a failed delivery again', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const { page } = await consoles.openAs(site.client, 'systemManagement/webhooks', { language: 'en' });
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('pager');
  await form.getByLabel('URL').fill(`http://127.0.0.1:${receiver.port}/hook`);
  await form.getByRole('button', { name: 'Add' }).click();
  await expect.poll(() => page.getByText(/^whsec_/).isVisible()).toBe(true);
  await keepPicture(page, 'webhook-secret');
  await page.getByRole('button', { name: 'I have stored the secret' }).click();

  await installation.db.outbox.create({
    data: { zoneId: site.zone.id, key: `site/${site.id}`, error: 'notCompiled', failedAt: new Date() },
  });
  await raiseAlerts(installation);
  await deliverAlerts(installation);
  expect(WebhookBody.parse(JSON.parse(receiver.requests[0]?.body ?? '')).data.events).toMatchObject([
    { kind: 'sitesUnpublished', name: site.name },
  ]);
  await installation.pool.query(
    'UPDATE alert_messages SET failed_at = now(), is_pending = FALSE WHERE sent_at IS NULL',
  );
  await page.reload();
  await expect.poll(() => page.getByText('Failing').first().isVisible()).toBe(true);
  await keepPicture(page, 'webhooks');
  await page.getByRole('button', { name: /pager/ }).click();
  await page.getByRole('menuitem', { name: 'Deliveries' }).click();
  await expect.poll(() => page.getByText('The server refused the message').last().isVisible()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'webhook-deliveries');
  receiver.on('/hook', { status: 200 });
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect
    .poll(async () => {
      await deliverAlerts(installation);
      return installation.db.alertMessage.count({ where: { sentAt: { not: null } } });
    })
    .toBe(1);
});
