import * as z from 'zod';

export const NameProofSetting = z.object({
  everyName: z.boolean().describe('Customers prove every new name, also one that overlaps no other name'),
});

export type NameProofSetting = z.output<typeof NameProofSetting>;
