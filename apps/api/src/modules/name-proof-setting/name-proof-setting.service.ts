// Whether an operator's customers must prove every new name. Enabled names are not affected.
import type { NameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.ts';
import type { Ctx } from '../../core/ctx.ts';

export async function get({ db }: Ctx): Promise<NameProofSetting> {
  const row = await db.nameProofSetting.findFirst({ select: { everyName: true } });
  return row ?? { everyName: false };
}

export const update = ({ db, actor: { clientId } }: Ctx, input: NameProofSetting): Promise<NameProofSetting> =>
  db.$transaction((tx) =>
    tx.nameProofSetting.upsert({
      where: { clientId },
      update: input,
      create: { ...input, clientId },
      select: { everyName: true },
    }),
  );
