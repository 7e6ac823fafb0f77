import * as z from 'zod';

export const PreheatUrl = z
  .string()
  .trim()
  .max(4096)
  .regex(/^https?:\/\/[^\s/]+/i, { message: 'wrong format' });

export const PreheatInput = z.object({
  urls: z
    .array(PreheatUrl)
    .min(1)
    .max(200)
    .describe('http:// or https:// URLs of this site; each node fetches them into its cache, a few at a time'),
});
export type PreheatInput = z.output<typeof PreheatInput>;
