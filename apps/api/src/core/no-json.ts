// Modules know the generated client by its types alone; this is the one value of it that they write.
import { Prisma } from '../generated/client.ts';

/** A JSON column without a value, as against one that holds JSON's null. */
export const NO_JSON = Prisma.DbNull;
