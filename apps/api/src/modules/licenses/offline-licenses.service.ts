// Licenses for other installations, which load the signed files that are issued here.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type {
  OfflineIssuing,
  OfflineLicenseInput,
  OfflineLicenseUpdate,
} from '@edgeloom/contract/licenses/offline-licenses.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { signingKey, signLicense } from '../../core/license-file.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { LicensedTx } from '../../core/scope.ts';
import type { OfflineLicense as Row } from '../../generated/client.ts';
import { termsOf } from './license-terms.ts';

export async function list({ db }: Ctx, paging: Paging<'name' | 'endsAt' | 'createdAt'>) {
  const [rows, total] = await Promise.all([db.offlineLicense.findMany(pageOf(paging)), db.offlineLicense.count()]);
  return { data: rows, total };
}

export async function create({ db, now }: Ctx, { startsAt = now(), ...input }: OfflineLicenseInput) {
  assertWindow(startsAt, input.endsAt);
  const data = { ...input, startsAt };
  return orFail('DUPLICATED', db.offlineLicense.create({ data }));
}

export const update = ({ db }: Ctx, { id, ...fields }: OfflineLicenseUpdate) =>
  db.$transaction(async (tx) => {
    const before = (await lock(tx, id)) ?? fail('NOT_FOUND');
    const after = { ...before, ...omitUndefined(fields) };
    if (before.issuedAt !== null && before.layer4 !== after.layer4) fail('ILLEGAL_PORT_TYPE');
    assertWindow(after.startsAt, after.endsAt);
    const data = omitUndefined(fields);
    return orFail('DUPLICATED', tx.offlineLicense.update({ where: { id }, data }));
  });

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const rows = [];
    for (const id of [...new Set(ids)].toSorted()) rows.push((await lock(tx, id)) ?? fail('NOT_FOUND'));
    if (rows.some(({ machineCode }) => machineCode !== null)) fail('STILL_IN_USE');
    await tx.offlineLicense.deleteMany({ where: { id: { in: ids } } });
    return { ids };
  });

/**
 * A file for this machine. Its counter exceeds those of all files before, also of removed licenses, since a machine may
 * get another license than before. Counters are milliseconds, so that they also rise over files of the command line.
 */
export async function issue({ db, now, installation }: Ctx, { id, machineCode }: OfflineIssuing) {
  const key = await signingKey(installation.env);
  return db.$transaction(async (tx) => {
    const before = (await lock(tx, id)) ?? fail('LICENSE_NOT_FOUND');
    if (before.machineCode !== null && before.machineCode !== machineCode) fail('STILL_IN_USE');
    if (before.endsAt !== null && before.endsAt <= now()) fail('LICENSE_EXPIRED');
    const issuedAt = now();
    const counter = await tx.$license.nextCounter(issuedAt.getTime());
    const row = await tx.offlineLicense.update({ where: { id }, data: { machineCode, issuedAt } });
    const { name, startsAt: notBefore, endsAt: notAfter } = row;
    const format = 'edgeloom-license/1';
    const license = { ...termsOf(row), format, id, name, machineCode, counter, issuedAt, notBefore, notAfter } as const;
    return { id, license: signLicense(license, key) };
  });
}

export const free = ({ db }: Ctx, id: string) =>
  db.$transaction(async (tx) => {
    if (!(await lock(tx, id))) fail('LICENSE_NOT_FOUND');
    return tx.offlineLicense.update({ where: { id }, data: { machineCode: null } });
  });

async function lock(tx: LicensedTx, id: string): Promise<Row | null> {
  await tx.$license.lock(id);
  return tx.offlineLicense.findUnique({ where: { id } });
}

function assertWindow(start: Date, end: Date | null) {
  if (end !== null && end <= start) failAt('endsAt', 'window', 'after the start');
}
