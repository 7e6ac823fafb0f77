// The only runtime value of the generated client that modules use.
import { Prisma } from '../generated/client.ts';

/** SQL NULL in a JSON column, rather than JSON's null. */
export const SQL_NULL = Prisma.DbNull;
