import { placeOf } from '@edgeloom/contract/common/redirect-target.ts';
import type { ErrorPageDoc, ErrorPagesDoc } from '@edgeloom/contract/edge/documents.ts';
import type { DefaultErrorPage } from '@edgeloom/contract/default-error-pages/default-error-pages.ts';

/** Enabled pages, by code. */
export type ErrorPageRow = Pick<DefaultErrorPage, 'code' | 'type' | 'value'> & { edgeOnly?: boolean | undefined };

// Text pages run no scripts and send nothing. Scripts need the JavaScript type.
const INERT =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; font-src https: data:; base-uri 'none'";

export const errorPageDocs = (rows: ErrorPageRow[]): { errorPages?: ErrorPageDoc[] } =>
  rows.length === 0 ? {} : { errorPages: rows.map(errorPageDoc) };

/** The operator's pages. Null: it has none. */
export const defaultErrorPagesDoc = (rows: ErrorPageRow[]): ErrorPagesDoc | null =>
  rows.length === 0 ? null : { kind: 'errorPages', pages: rows.map(errorPageDoc) };

const errorPageDoc = ({ edgeOnly, ...page }: ErrorPageRow): ErrorPageDoc => ({
  ...contentOf(page),
  ...(edgeOnly && { edgeOnly }),
});

function contentOf({ code, type, value }: Omit<ErrorPageRow, 'edgeOnly'>): ErrorPageDoc {
  if (type === 'content') return { code, html: value, csp: INERT };
  if (type === 'javascript')
    return {
      code,
      html: `<!doctype html>\n<html><head><meta charset="utf-8"></head><body><script>${value}</script></body></html>\n`,
    };
  const place = placeOf(value);
  return { code, ...(place && { redirect: { url: value, ...place } }) };
}
