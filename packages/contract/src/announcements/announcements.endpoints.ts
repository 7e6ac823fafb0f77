import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, onEvery, post, put } from '../endpoint.ts';
import { Announcement, AnnouncementInput, AnnouncementUpdate, ShownAnnouncement } from './announcements.ts';

export const announcementSetting = onClient('announcementSetting', {
  list:   get('setting/announcements', { can: 'announcement:read', query: paging(['orderNum', 'title', 'start', 'end', 'createdAt']), reply: paged(Announcement) }),
  create: post('setting/announcement', { can: 'announcement:write', body: AnnouncementInput, reply: Announcement }),
  update: put('setting/announcement', { can: 'announcement:write', body: AnnouncementUpdate, reply: Announcement }),
  remove: del('setting/announcements', { can: 'announcement:write', body: Ids, reply: Ids }),
});

/** The current announcements of the reader's operator, in order. */
export const announcements = onEvery('announcements', {
  list: get('announcements', { can: 'signedIn', reply: z.object({ data: z.array(ShownAnnouncement) }) }),
});
