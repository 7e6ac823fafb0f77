import { pathKey } from '@edgeloom/contract/common/paths.ts';

/**
 * Normalises URLs as browsers do: lower-case host, escaped path, no fragment. Null if the text is not an http or https
 * URL.
 */
export const readUrls = (texts: string[]): (URL | null)[] =>
  texts.map((text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
    url.hash = '';
    return url;
  });

/** The domain names that may serve a host: its own, and the wildcard one level up. */
export function namesThat(hostname: string): string[] {
  const dot = hostname.indexOf('.');
  return dot < 0 ? [hostname] : [hostname, `*${hostname.slice(dot)}`];
}

/** Host and path, as the edge compares prefixes (pathKey). A prefix ends with / and has no query. */
export const prefixOf = (url: URL): string | null =>
  url.search === '' && url.pathname.endsWith('/') ? url.hostname + pathKey(url.pathname) : null;
