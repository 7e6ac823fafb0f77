import type { Installation } from '../installation.ts';

/** Whether the operator requires a second factor for all sign-ins by password. */
export async function mustVerify(
  { systemSetting }: Pick<Installation['db'], 'systemSetting'>,
  clientId: string | null,
): Promise<boolean> {
  if (clientId === null) return false;
  const row = await systemSetting.findUnique({ where: { clientId }, select: { accountVerify: true } });
  return row?.accountVerify ?? false;
}
