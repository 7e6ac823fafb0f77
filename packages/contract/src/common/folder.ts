import * as z from 'zod';

/** A folder of a machine, by its whole path; no part of it begins with a dot. */
export const Folder = z
  .string()
  .max(200)
  .regex(/^(?:\/[\w-][\w.-]*)+$/, { message: 'wrong format' });
