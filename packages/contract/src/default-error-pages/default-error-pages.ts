// An operator's error pages, for all of its sites that have no page of their own for a code.
import * as z from 'zod';
import { ErrorPageCode, errorPageSchemas } from '../error-pages/error-pages.ts';

/** Besides the codes of sites: 904, which a site out of service responds with. */
export const DefaultErrorPageCode = z.literal([...ErrorPageCode.values, 904]);

const schemas = errorPageSchemas(DefaultErrorPageCode);
export const DefaultErrorPageInput = schemas.Input;
export const DefaultErrorPageUpdate = schemas.Update;
export const DefaultErrorPage = schemas.Page;

export type DefaultErrorPage = z.output<typeof DefaultErrorPage>;
export type DefaultErrorPageInput = z.output<typeof DefaultErrorPageInput>;
export type DefaultErrorPageUpdate = z.output<typeof DefaultErrorPageUpdate>;
