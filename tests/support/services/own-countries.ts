import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { openGeoip } from '@edgeloom/api/geoip/geoip.ts';
import { mmdb } from '../builders/mmdb.ts';
import { testDir } from './test-dir.ts';

/** Makes the API use a database of countries of the operator. Returns the end of it. */
export async function useOwnCountries(installation: Installation): Promise<() => void> {
  const file = path.join(await testDir(), 'countries.mmdb');
  await writeFile(file, mmdb('Country', [['203.0.113.0/24', { country: { iso_code: 'TW' } }]]));
  const log = { info: () => undefined, error: () => undefined };
  installation.geoip = await openGeoip({ GEOIP_COUNTRY_FILE: file }, log);
  return () => {
    installation.geoip = null;
  };
}
