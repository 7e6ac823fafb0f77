import * as z from 'zod';

export const PreheatInput = z.object({
  urls: z
    .array(z.string().trim().min(1).max(4096))
    .min(1)
    .max(200)
    .describe('http:// or https:// URLs of this site; each node fetches them into its cache, a few at a time'),
});
export type PreheatInput = z.output<typeof PreheatInput>;
