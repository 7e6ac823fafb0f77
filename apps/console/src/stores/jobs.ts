import { create } from 'zustand';

export interface FollowedJob {
  jobID: string;
  siteId: string;
}
interface Jobs {
  followed: readonly FollowedJob[];
  open: boolean;
}
/** Jobs started in this tab, newest first, besides those of the open site. */
export const useJobs = create<Jobs>(() => ({ followed: [], open: false }));

/** Puts a job into the tray, so that it outlives the page that started it. */
export const follow = (jobID: string, siteId: string) =>
  useJobs.setState(({ followed }) => ({ followed: [{ jobID, siteId }, ...followed].slice(0, 20) }));
