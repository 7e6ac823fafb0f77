// Measures a page's requests and gzipped script from a cold start until the network is idle.
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright-core';

export interface PageCost {
  /** URLs of all requests, including API calls. */
  requests: string[];
  /** Number of script files. */
  chunks: number;
  scriptKilobytes: number;
  /** Response bodies as transferred. */
  totalKilobytes: number;
}

/** The page must belong to a fresh browser context. `isReady` waits for the last visible element. */
export async function measurePageCost(
  page: Page,
  address: string,
  isReady: (page: Page) => Promise<void>,
): Promise<PageCost> {
  const requests: Request[] = [];
  const open = new Set<Request>();
  page.on('request', (request) => {
    requests.push(request);
    open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  await page.goto(address, { waitUntil: 'networkidle' });
  await isReady(page);
  while (open.size > 0) await setTimeout(50);
  const bodies = await Promise.all(requests.map(measureTransfer));
  const kilobytes = (bytes: number[]) => Math.round(bytes.reduce((sum, one) => sum + one, 0) / 100) / 10;
  const scripts = bodies.flatMap(({ scriptBytes }) => scriptBytes ?? []);
  return {
    requests: requests.map((request) => `${request.method()} ${request.url().replace(/^https?:\/\/[^/]*/, '')}`),
    chunks: scripts.length,
    scriptKilobytes: kilobytes(scripts),
    totalKilobytes: kilobytes(bodies.map(({ sentBytes }) => sentBytes)),
  };
}

async function measureTransfer(request: Request) {
  const response = await request.response();
  if (!response) return { scriptBytes: null, sentBytes: 0 };
  const isScript = response.headers()['content-type']?.includes('javascript') === true;
  const { responseBodySize: sentBytes } = await request.sizes();
  return { scriptBytes: isScript ? gzipSync(await response.body(), { level: 9 }).length : null, sentBytes };
}
