// Starts the whole product as `npm start` does, on free ports and in its own folder, and a Chromium. PostgreSQL and the
// agent's release are the run's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { connect, type Call } from '@edgeloom/contract/client.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { buildAll } from '../../../deploy/build.ts';
import { Summary } from '../../../deploy/quickstart/demo.ts';
import { chromiumOptions, sessionCookies } from './chromium.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePorts } from './ports.ts';
import { testDatabase } from './shared-services.ts';
import { testDir } from './test-dir.ts';
import { ownReleases } from '../builders/checkout-release.ts';
import { unlimited } from '../builders/unlimited-rates.ts';

export type Kind = 'user' | 'client';
type Language = 'zh-TW' | 'zh-CN' | 'en';

export interface WindowOptions {
  language?: Language;
  /** Opens the page with empty storage and this preferred language. */
  firstVisitLanguage?: string;
  width?: number;
  theme?: 'light' | 'dark' | 'system';
  /** Expected browser errors. Chromium also logs each HTTP error of a test as an error. */
  expectedErrors?: RegExp;
}

export interface Screen {
  page: Page;
  /** Returns and clears the browser's errors: console errors, crashes, CSP violations. */
  browserErrors: () => string[];
}

export interface Product {
  summary: Summary;
  edgePort: number;
  /** API client of a demo account. */
  as: (kind: Kind) => Promise<Call>;
  /** Opens a page without a session. */
  open: (look?: WindowOptions) => Promise<Screen>;
  /** Opens a console page with a demo account signed in. */
  openAs: (kind: Kind, address: string, look?: WindowOptions) => Promise<Screen>;
  stop: () => Promise<void>;
}

const root = path.join(import.meta.dirname, '../../..');
const ports = [
  'PORT',
  'ADMIN_PORT',
  'EDGE_HTTP_PORT',
  'EDGE_HTTPS_PORT',
  'EDGE_FORWARD_PORT',
  'ORIGIN_PORT',
  'NATS_PORT',
] as const;

export async function startProduct(): Promise<Product> {
  await buildAll({ ifChanged: true });
  const data = await testDir();
  const free = await freePorts(ports.length);
  const chosen = Object.fromEntries(ports.map((name, i): [string, string] => [name, String(free[i])]));
  // Creating and migrating a database and packing the release take two fifths of the start's CPU time.
  const { RELEASES_DIR } = await ownReleases();
  await cp(RELEASES_DIR, path.join(data, 'releases'), { recursive: true });
  const settings = { DATABASE_URL: await testDatabase(), EDGELOOM_DATA: data };
  const env = { ...process.env, ...unlimited, ...chosen, ...settings };
  const started = spawn(process.execPath, ['deploy/quickstart/main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(started, 'exit');
  const stop = async () => {
    started.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  let output = '';
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const isUp = eventually(() => void (output.includes('Everything is up') || expect.fail(output)), { within: 180_000 });
  await Promise.race([isUp, ended.then(() => Promise.reject(new Error(`The quick start ended:\n${output}`)))]).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  const summary = Summary.parse(JSON.parse(await readFile(path.join(data, 'quickstart.json'), 'utf8')));
  const browser = await chromiumOfWorker();

  const tokensOf = async (kind: Kind) => {
    const call = connect({ base: `${summary.api}/api/v1`, family: kind, token: () => null });
    const { email, password } = summary.accounts[kind];
    const { onePassKey, vcode = '' } = await call(session.login, { body: { email, password } });
    return call(session.code, { body: { email, onePassKey, vcode } });
  };
  return {
    summary,
    edgePort: Number(chosen['EDGE_HTTP_PORT']),
    as: async (kind) => {
      const { accessToken } = await tokensOf(kind);
      return connect({ base: `${summary.api}/api/v1`, family: kind, token: () => accessToken });
    },
    open: (look) => openWindow(browser, summary.console, look),
    openAs: async (kind, address, look) => {
      const screen = await openWindow(browser, summary.console, look);
      const { accessToken } = await tokensOf(kind);
      await setSessionCookies(screen, summary.console, { kind, token: accessToken });
      await screen.page.goto(`${summary.console}/${kind}/${address}`);
      return screen;
    },
    stop,
  };
}

/** Starts with an empty profile. */
export const openChromium = (): Promise<Browser> => chromium.launch(chromiumOptions);

let opened: Promise<Browser> | undefined;

/** Serves all files of a worker, with an empty profile for each window, and ends with the worker. */
export async function chromiumOfWorker(): Promise<Browser> {
  const browser = await (opened ??= openChromium());
  if (browser.isConnected()) return browser;
  opened = undefined;
  return chromiumOfWorker();
}

/** Opens a console page until the end of the test. Unexpected browser errors fail the test. */
export async function openWindow(
  browser: Browser,
  baseURL: string,
  { language = 'en', firstVisitLanguage, width = 1440, theme = 'system', expectedErrors = /^$/ }: WindowOptions = {},
): Promise<Screen> {
  const options: BrowserContextOptions = {
    viewport: { width, height: width < 500 ? 740 : 900 },
    baseURL,
    reducedMotion: 'reduce',
    ...(firstVisitLanguage !== undefined && { locale: firstVisitLanguage }),
  };
  const context = await browser.newContext(options);
  const complaints: string[] = [];
  // Chromium aborts requests when a network interface of the machine changes (containers, namespaces).
  const isOurs = (text: string) => !expectedErrors.test(text) && !text.includes('net::ERR_NETWORK_CHANGED');
  const complain = (text: string) => void (isOurs(text) && complaints.push(text));
  // Sets stored preferences as an earlier visit would have left them.
  if (firstVisitLanguage === undefined)
    await context.addInitScript(
      ([key, kept]) => {
        // axe opens a blank page, which has no storage.
        if (location.protocol !== 'about:' && localStorage.getItem(key) === null) localStorage.setItem(key, kept);
      },
      ['edgeloom.preferences', JSON.stringify({ state: { language, theme }, version: 0 })] as const,
    );
  // Toasts close after four seconds, which is too short for a slow machine.
  await context.addInitScript(() => {
    const { setTimeout } = window;
    const patient = (task: TimerHandler, ms?: number, ...rest: unknown[]) =>
      setTimeout(task, ms === 4000 ? 15_000 : ms, ...rest);
    Object.assign(window, { setTimeout: patient });
  });
  await context.exposeFunction('blockedByPolicy', (what: string) => complain(`the policy blocked ${what}`));
  await context.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (event) => {
      const report: unknown = Reflect.get(window, 'blockedByPolicy');
      const { effectiveDirective, blockedURI, sourceFile, lineNumber } = event;
      if (typeof report === 'function') report(`${effectiveDirective} ${blockedURI} at ${sourceFile}:${lineNumber}`);
    }),
  );
  // Listens on every page of the context.
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (webError) => complain(String(webError.error().stack ?? webError.error())));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  // An open page keeps asking the server, which costs one percent of a core.
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail' || complaints.length > 0) console.error(await describePage(page));
    await context.close();
    expect(complaints, 'complaints of the browser').toEqual([]);
  });
  return { page, browserErrors: () => complaints.splice(0) };
}

/** Describes a failed test's page: its address, the element with focus, and its text. */
async function describePage(page: Page): Promise<string> {
  const focus = () => document.activeElement?.outerHTML.slice(0, 300);
  const shown = await Promise.all([
    page.evaluate(focus).catch(String),
    page.locator('body').innerText({ timeout: 5000 }).catch(String),
  ]);
  return [page.url(), ...shown].join('\n').slice(0, 4000);
}

/** Sets the cookies that signing in sets. */
export const setSessionCookies = ({ page }: Screen, url: string, who: { kind: Family; token: string }) =>
  page.context().addCookies(sessionCookies(url, who));

/** Signs in through the sign-in form. */
export async function signIn({ page }: Screen, kind: Kind, summary: Summary): Promise<void> {
  const { email, password } = summary.accounts[kind];
  await page.goto(`/${kind}/login`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/${kind}/dashboard`);
}

/** Pixels by which the page is wider than the viewport. */
export const horizontalOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/**
 * Chooses an item of a menu by keyboard. Focus and key are one step: a menu that has just opened focuses its first item
 * in a timer, which may come between the two.
 */
export const chooseByKeyboard = (page: Page, item: string): Promise<void> =>
  page.getByRole('menuitem', { name: item }).evaluate((element: HTMLElement) => {
    element.focus();
    // Enter does the same to a focused button.
    element.click();
  });
