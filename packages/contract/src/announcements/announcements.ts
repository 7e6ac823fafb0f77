import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';

/** Plain text with line breaks. */
const Content = z
  .string()
  .trim()
  .min(1)
  .max(5000)
  .refine((text) => !/[^\P{Cc}\n\r\t]/u.test(text), { message: 'plain text' });
const End = Time.nullable().describe('Null: until it is removed');
const Order = z.int().min(1).max(1000).describe('Its place from 1; the others make room');

export const AnnouncementInput = z.object({
  title: Text,
  content: Content,
  start: Time,
  end: End.default(null),
  order: Order.optional().describe('Its place from 1; left out: behind the others'),
});
export const AnnouncementUpdate = z.object({
  id: Id,
  title: Text.optional(),
  content: Content.optional(),
  start: Time.optional(),
  end: End.optional(),
  order: Order.optional(),
});

/** For readers. */
export const ShownAnnouncement = z.object({
  id: Id,
  title: z.string(),
  content: z.string(),
  start: Time,
  end: End,
  orderNum: z.int(),
});
export const Announcement = ShownAnnouncement.extend({ createdAt: Time, updatedAt: Time });

export type ShownAnnouncement = z.output<typeof ShownAnnouncement>;
export type Announcement = z.output<typeof Announcement>;
export type AnnouncementInput = z.output<typeof AnnouncementInput>;
export type AnnouncementUpdate = z.output<typeof AnnouncementUpdate>;
