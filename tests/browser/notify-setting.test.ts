// Notifications: Telegram from the token to a test message, and the history of alerts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { BOT_TOKEN, CHAT_ID, startTelegram } from '../support/fakes/telegram.ts';
import { raiseAlerts } from '../support/services/background-work.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let telegram: Awaited<ReturnType<typeof startTelegram>>;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  telegram = await startTelegram();
  onEnd(() => telegram.stop());
  consoles = await startConsoles({ ORIGIN_ALLOW: '127.0.0.0/8', TELEGRAM_API_URL: telegram.url });
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

const address = 'systemManagement/notifySetting';

test('a customer sets its chat, and sees in the history what was sent there', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const domain = await build.domain({ site });
  const screen = await consoles.openAs(site.owner, `${address}?tab=channels`, { language: 'en' });
  const { page } = screen;
  await page.getByRole('switch', { name: 'On', exact: true }).click();
  await page.getByLabel('Bot token').fill(BOT_TOKEN);
  await page.getByLabel('Chat ID').fill(CHAT_ID);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Send test message' }).click();
  await expect.poll(() => page.getByText('Test message sent').isVisible()).toBe(true);
  expect(telegram.texts).toHaveLength(1);
  expect(await horizontalOverflow(page)).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'notify-telegram');

  await installation.db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  await raiseAlerts(installation);
  await page.getByRole('link', { name: 'Alert history' }).click();
  await expect.poll(() => page.getByText('CNAME not active').first().isVisible()).toBe(true);
  expect(await page.getByText(domain.name).first().isVisible()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'notify-history');
});
