import * as z from 'zod';

/** An absolute path without hidden folders. */
export const Folder = z
  .string()
  .max(200)
  .regex(/^(?:\/[\w-][\w.-]*)+$/, { message: 'wrong format' });
