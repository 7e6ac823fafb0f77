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

/** Host and unescaped path, the form in which the edge compares prefixes. A prefix ends with / and has no query. */
export function prefixOf(url: URL): string | null {
  if (url.search !== '' || !url.pathname.endsWith('/')) return null;
  try {
    return url.hostname + decodeURIComponent(url.pathname);
  } catch {
    return null;
  }
}
