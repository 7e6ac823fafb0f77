import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { DomainNameInput } from '../common/net.ts';

export const brandSlots = ['logo', 'favicon', 'backgroundImage', 'sidebarLogo', 'sidebarSimpleLogo'] as const;
export type BrandSlot = (typeof brandSlots)[number];

/** Limits of pictures. `pixels` limits the longer side. */
export const brandLimits: Readonly<Record<BrandSlot, { bytes: number; pixels: number }>> = {
  logo: { bytes: 256_000, pixels: 2048 },
  favicon: { bytes: 128_000, pixels: 512 },
  backgroundImage: { bytes: 1_500_000, pixels: 4096 },
  sidebarLogo: { bytes: 256_000, pixels: 2048 },
  sidebarSimpleLogo: { bytes: 128_000, pixels: 1024 },
};

const Line = z
  .string()
  .trim()
  .max(64)
  .refine((text) => !/\p{Cc}/u.test(text), { message: 'one line' });
const Picture = z
  .union([z.file(), z.literal('')])
  .optional()
  .describe('PNG, JPEG, WebP, SVG or ICO. Left out: it stays as it is; empty: it is removed');
const pictures = {
  logo: Picture,
  favicon: Picture,
  backgroundImage: Picture,
  sidebarLogo: Picture,
  sidebarSimpleLogo: Picture,
};
const Host = DomainNameInput.refine((name) => !name.includes('*'), { message: 'wrong format' }).describe(
  'The host name at which the consoles look like this',
);

export const BrandingInput = z.object({
  host: Host,
  title: Line.default('').describe('In place of the product’s name; empty: its own'),
  copyright: Line.default('').describe('At the foot of the sign-in page; empty: its own'),
  ...pictures,
});
export const BrandingUpdate = z.object({
  id: Id,
  host: Host.optional(),
  title: Line.optional(),
  copyright: Line.optional(),
  ...pictures,
});

const Address = z.string().nullable().describe('The address of the picture; null: none');
const look = {
  title: z.string(),
  copyright: z.string(),
  logo: Address,
  favicon: Address,
  backgroundImage: Address,
  sidebarLogo: Address,
  sidebarSimpleLogo: Address,
};
/** The look of a console. Empty texts and null mean the product's default. */
export const ShownBranding = z.object(look);
export const Branding = z.object({ id: Id, host: z.string(), ...look, createdAt: Time, updatedAt: Time });

export type ShownBranding = z.output<typeof ShownBranding>;
export type Branding = z.output<typeof Branding>;
export type BrandingInput = z.output<typeof BrandingInput>;
export type BrandingUpdate = z.output<typeof BrandingUpdate>;
