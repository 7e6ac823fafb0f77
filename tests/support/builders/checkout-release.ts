// The agent of this checkout as a release, built once per run.
import path from 'node:path';
import { ensureOwnRelease } from '../../../deploy/release.ts';

/** API settings with this release. */
export const ownReleases = async () => (await ownRelease()).settings;

const ownRelease = () => ensureOwnRelease(path.join(import.meta.dirname, '../../../.data/cache/releases'));
