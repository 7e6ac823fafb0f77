import { create } from 'zustand';

export interface FollowedJob {
  jobID: string;
  siteId: string;
}
interface Jobs {
  /** Jobs started in this tab, newest first. */
  followed: readonly FollowedJob[];
  /** How many of the open site run now; the window's title tells it. */
  running: number;
}
export const useJobs = create<Jobs>(() => ({ followed: [], running: 0 }));

/** Tells the tray of a job that was just started, so that it outlives the page that did it. */
export const follow = (jobID: string, siteId: string) =>
  useJobs.setState(({ followed }) => ({ followed: [{ jobID, siteId }, ...followed].slice(0, 20) }));
