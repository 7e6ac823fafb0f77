import { create } from 'zustand';
import { refresh } from '../lib/queries.ts';

export interface FollowedJob {
  jobID: string;
  siteId: string;
}
interface Jobs {
  /** Jobs started in this tab, newest first. */
  followed: readonly FollowedJob[];
  /** Number of running jobs of the open site, shown in the document title. */
  running: number;
}
export const useJobs = create<Jobs>(() => ({ followed: [], running: 0 }));

/** Adds a job to the tray, where it outlives its page. */
export function follow(jobID: string, siteId: string) {
  useJobs.setState(({ followed }) => ({ followed: [{ jobID, siteId }, ...followed] }));
  void refresh(['jobs']);
}
