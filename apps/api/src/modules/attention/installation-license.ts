// The offline license of this installation, for administrators: its end, another machine, and limits that are near.
import type { AttentionItem } from '@edgeloom/contract/attention/attention.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { limitsOf, readLoadedLicense } from '../../core/installation-license.ts';
import { ENDING_DAYS, NEAR_SHARE } from './licenses.ts';

export async function ofInstallationLicense({ installation, now }: Ctx): Promise<AttentionItem[]> {
  const loaded = await readLoadedLicense(installation);
  if (loaded === null) return [];
  const { terms, isExpired, otherMachineUntil, uses } = loaded;
  const { name, notAfter } = terms;
  const item = { count: 1, names: [name], site: null, siteCount: 0, moduleKind: null, accountID: null, limit: null };
  const until = new Date(now().getTime() + ENDING_DAYS * 86_400_000);
  const isEnding = notAfter !== null && notAfter <= until;
  const endsAt =
    otherMachineUntil !== null && (notAfter === null || otherMachineUntil < notAfter) ? otherMachineUntil : notAfter;
  const near = Licensed.options.flatMap((of) => {
    const [used, most] = [uses[of], limitsOf(terms)[of]];
    return used !== undefined && used >= most * NEAR_SHARE ? [{ of, uses: used, most }] : [];
  });
  return [
    ...(isExpired ? [{ ...item, kind: 'installationLicenseEnded', endsAt } as const] : []),
    ...(!isExpired && otherMachineUntil !== null
      ? [{ ...item, kind: 'installationLicenseMoved', endsAt: otherMachineUntil } as const]
      : []),
    ...(!isExpired && isEnding ? [{ ...item, kind: 'installationLicenseEnding', endsAt: notAfter } as const] : []),
    ...near.map((limit) => ({ ...item, kind: 'installationLicenseNearLimit' as const, endsAt: null, limit })),
  ];
}
