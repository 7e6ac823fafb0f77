// The robots.txt of a site (RFC 9309), which the edge serves in place of the origin's.
import * as z from 'zod';
import type { ErrorMessage } from '../messages.ts';

/** Crawlers read at least 500 KiB. The text is part of the site's document. */
const MAX_BYTES = 64 * 1024;
const MAX_LINES_PER_GROUP = 500;

const format = { message: 'wrong format' satisfies ErrorMessage };
const Agent = z
  .string()
  .trim()
  .regex(/^(?:\*|[A-Za-z0-9_.-]{1,64})$/, format)
  .describe('The name of a crawler, or * for all others');
/** A line break would add a line, and a # begins a comment. */
const RobotsPath = z
  .string()
  .trim()
  .max(1024)
  .regex(/^[/*][^\s#\p{Cc}\p{Cs}]*$/u, format)
  .describe('Begins with / or *. * stands for any text, and $ for the end of the path');
const Sitemap = z
  .string()
  .trim()
  .max(2048)
  .regex(/^https?:\/\/[^\s#\p{Cc}\p{Cs}]+$/iu, format);

export const RobotsGroup = z.object({
  agents: z.array(Agent).min(1).max(100),
  allow: z.array(RobotsPath).max(MAX_LINES_PER_GROUP).default([]),
  disallow: z.array(RobotsPath).max(MAX_LINES_PER_GROUP).default([]).describe('Without paths, all are allowed'),
  crawlDelay: z.int().min(1).max(86_400).nullable().default(null).describe('Seconds between requests. Not all obey'),
});
const fields = {
  enabled: z.boolean().default(true).describe("False: the origin's file is served"),
  groups: z.array(RobotsGroup).max(100).default([]),
  sitemaps: z.array(Sitemap).max(50).default([]),
};
export const RobotsInput = z.object(fields).superRefine((robots, ctx) => {
  if (new TextEncoder().encode(robotsText(robots)).length > MAX_BYTES)
    ctx.addIssue({ code: 'custom', path: ['groups'], message: 'too much text' satisfies ErrorMessage });
});
export const Robots = z.object({
  enabled: z.boolean(),
  groups: z.array(
    z.object({
      agents: z.array(z.string()),
      allow: z.array(z.string()),
      disallow: z.array(z.string()),
      crawlDelay: z.int().nullable(),
    }),
  ),
  sitemaps: z.array(z.string()),
  text: z.string().describe('The file that is served while it is enabled'),
});

export type RobotsGroup = z.output<typeof RobotsGroup>;
export type RobotsInput = z.output<typeof RobotsInput>;
export type Robots = z.output<typeof Robots>;

/** The lines of the file. */
export function robotsText({ groups, sitemaps }: Pick<Robots, 'groups' | 'sitemaps'>): string {
  const blocks = [...groups.map(groupLines), sitemaps.map((url) => `Sitemap: ${url}`)];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

const groupLines = ({ agents, allow, disallow, crawlDelay }: RobotsGroup): string[] => [
  ...agents.map((agent) => `User-agent: ${agent}`),
  ...allow.map((path) => `Allow: ${path}`),
  // A group needs a rule. An empty path forbids nothing.
  ...(disallow.length === 0 && allow.length === 0 ? ['Disallow:'] : disallow.map((path) => `Disallow: ${path}`)),
  ...(crawlDelay === null ? [] : [`Crawl-delay: ${crawlDelay}`]),
];

/** Names by which crawlers that collect texts to train models can be excluded. */
const trainingAgents = [
  'GPTBot',
  'ClaudeBot',
  'CCBot',
  'Google-Extended',
  'Applebot-Extended',
  'Amazonbot',
  'Bytespider',
  'meta-externalagent',
];
export const noTrainingGroup: RobotsGroup = { agents: trainingAgents, allow: [], disallow: ['/'], crawlDelay: null };
