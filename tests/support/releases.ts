// The agent of this checkout as a release: made once for all files of a run.
import path from 'node:path';
import { ensureOwnRelease } from '../../deploy/release.ts';

/** Settings of a control plane that has it. */
export const ownReleases = async () => (await ownRelease()).settings;

export const ownRelease = () => ensureOwnRelease(path.join(import.meta.dirname, '../../.data/cache/releases'));
