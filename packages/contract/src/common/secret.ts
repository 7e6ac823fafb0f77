import type * as z from 'zod';

/** Marks a password or key: callers send it and never receive it, and a console never stores it in a draft. */
export const secret = <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ writeOnly: true });
