import * as z from 'zod';

/** Text types. Pictures, audio and archives are already compressed. */
export const USUAL_TYPES = [
  'text/html',
  'text/css',
  'text/plain',
  'text/xml',
  'text/javascript',
  'application/javascript',
  'application/json',
  'application/manifest+json',
  'application/xml',
  'application/rss+xml',
  'application/wasm',
  'image/svg+xml',
  'font/ttf',
];

const MediaType = z
  .string()
  .trim()
  .toLowerCase()
  .max(100)
  .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/, { message: 'wrong format' });

/** Types that can be converted to WebP. */
export const ImageType = z.enum(['image/jpeg', 'image/png']);

export const Compression = z.object({
  gzip: z.boolean().describe('For browsers that take it, where the origin has not compressed'),
  brotli: z.boolean().describe('Smaller than gzip; taken first where a browser takes both'),
  types: z.array(MediaType).min(1).max(100).describe('Content types that are compressed'),
  minBytes: z.int().min(0).max(10_485_760).describe('Smaller answers stay as they are'),
  webp: z.boolean().describe('Images as WebP for browsers that take it, where that is smaller'),
  webpQuality: z.int().min(1).max(100).describe('100 is the best, and the largest'),
  webpTypes: z.array(ImageType).min(1).max(ImageType.options.length).describe('Which images'),
  webpMinBytes: z.int().min(0).max(20_971_520).describe('Smaller images stay as they are'),
  webpMaxBytes: z.int().min(1).max(20_971_520).describe('Larger images stay as they are'),
});
export type Compression = z.output<typeof Compression>;

/** Omitted WebP settings stay unchanged. */
export const CompressionInput = Compression.partial({
  webp: true,
  webpQuality: true,
  webpTypes: true,
  webpMinBytes: true,
  webpMaxBytes: true,
});
export type CompressionInput = z.output<typeof CompressionInput>;
