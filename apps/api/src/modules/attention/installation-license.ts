// The offline license of this installation, for administrators: its end, another machine, and limits that are near.
import type { AttentionItem } from '@edgeloom/contract/attention/attention.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { limitsOf, readInstallationLicense } from '../../core/installation-license.ts';
import { ENDING_DAYS, NEAR_SHARE } from './licenses.ts';

export async function ofInstallationLicense({ installation, now }: Ctx): Promise<AttentionItem[]> {
  const { license, isExpired, otherMachineUntil, uses } = await readInstallationLicense(installation);
  if (license === null) return [];
  const { name, notAfter } = license;
  const item = { count: 1, names: [name], site: null, siteCount: 0, moduleKind: null, accountID: null, limit: null };
  const until = new Date(now().getTime() + ENDING_DAYS * 86_400_000);
  const isEnding = notAfter !== null && notAfter <= until;
  const endsAt =
    otherMachineUntil !== null && (notAfter === null || otherMachineUntil < notAfter) ? otherMachineUntil : notAfter;
  const limits = limitsOf(license);
  const near = Licensed.options.filter((thing) => limits[thing] > 0 && uses[thing] >= limits[thing] * NEAR_SHARE);
  return [
    ...(isExpired ? [{ ...item, kind: 'installationLicenseEnded', endsAt } as const] : []),
    ...(!isExpired && otherMachineUntil !== null
      ? [{ ...item, kind: 'installationLicenseMoved', endsAt: otherMachineUntil } as const]
      : []),
    ...(!isExpired && isEnding ? [{ ...item, kind: 'installationLicenseEnding', endsAt: notAfter } as const] : []),
    ...near.map((thing) => ({
      ...item,
      kind: 'installationLicenseNearLimit' as const,
      endsAt: null,
      limit: { of: thing, uses: uses[thing], most: limits[thing] },
    })),
  ];
}
