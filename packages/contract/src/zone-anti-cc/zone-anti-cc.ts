// Anti-CC of a zone: challenges visitors who send too many requests, and everyone while a site is flooded.
import * as z from 'zod';
import { PathPrefix } from '../common/paths.ts';
import type { ErrorMessage } from '../messages.ts';

export const antiCCModes = [1, 2, 3, 4] as const;
export const AntiCCMode = z
  .literal(antiCCModes)
  .describe(
    '1: the browser works for some seconds; 2: type what a picture shows; 3: click; 4: a redirect with a cookie',
  );

const Extension = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_-]{1,16}$/, { message: 'an extension without dots' satisfies ErrorMessage });

/** As stored and as nodes get it. Earlier versions took other paths. */
export const ZoneAntiCC = z.object({
  enabled: z.boolean(),
  monitor: z.boolean().describe('Nobody is asked; the log says who would have been'),
  mode: AntiCCMode,
  requests: z
    .int()
    .min(0)
    .max(1_000_000)
    .describe('Of one address to one site within `seconds`, before it is asked; 0: everyone is'),
  seconds: z.int().min(1).max(300),
  siteRate: z
    .int()
    .min(0)
    .max(1_000_000)
    .describe('Requests a second to one site on one node, from which on every visitor is asked; 0: never'),
  siteMinutes: z.int().min(1).max(1440).describe('For how long, after the rate has fallen below half'),
  difficulty: z.int().min(1).max(5).describe('Of what browsers work out; each step doubles it'),
  passSeconds: z.int().min(60).max(86_400).describe('How long a proof is good'),
  fails: z
    .int()
    .min(0)
    .max(10_000)
    .describe(
      'So many unanswered questions within a minute block an address, where the zone has a block set; 0: never',
    ),
  blockSeconds: z
    .int()
    .min(10)
    .max(30 * 86_400),
  paths: z.array(z.string()).max(100).describe('How paths begin that nobody is asked at and that do not count'),
  extensions: z.array(Extension).max(100).describe('Of files of a page: ten of them count as one request'),
});
export type ZoneAntiCC = z.output<typeof ZoneAntiCC>;
export const ZoneAntiCCInput = ZoneAntiCC.extend({ paths: z.array(PathPrefix).max(100) });

type Lists = 'paths' | 'extensions';
const normal: Omit<ZoneAntiCC, Lists | 'enabled'> = {
  monitor: false,
  mode: 1,
  requests: 300,
  seconds: 10,
  siteRate: 1000,
  siteMinutes: 5,
  difficulty: 3,
  passSeconds: 3600,
  fails: 120,
  blockSeconds: 600,
};
/** Extensions of files that pages include. */
const files =
  'css js mjs map wasm png jpg jpeg gif webp avif svg ico woff woff2 ttf otf mp3 mp4 webm m3u8 ts m4s pdf zip';

export const noAntiCC: ZoneAntiCC = {
  enabled: false,
  ...normal,
  paths: ['/.well-known/'],
  extensions: files.split(' '),
};

export type AntiCCPreset = 'watch' | 'normal' | 'strict' | 'attack';
/** Settings to begin with, and for an attack. Exceptions stay as they are. */
export const antiCCPresets: Record<AntiCCPreset, Omit<ZoneAntiCC, Lists>> = {
  watch: { ...normal, enabled: true, monitor: true },
  normal: { ...normal, enabled: true },
  strict: {
    ...normal,
    enabled: true,
    requests: 120,
    siteRate: 300,
    siteMinutes: 15,
    difficulty: 4,
    passSeconds: 1800,
    fails: 60,
  },
  attack: {
    ...normal,
    enabled: true,
    mode: 3,
    requests: 0,
    difficulty: 4,
    passSeconds: 1800,
    fails: 30,
    blockSeconds: 3600,
  },
};
