// The effect of a change on nginx's files, for people. Rendered for a Debian node, independent of the local nginx.
import type { Capabilities } from '@edgeloom/agent/render/capabilities.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { rendered, type Form } from './rendered.ts';

const capabilities: Capabilities = {
  version: '1.26.3',
  openresty: true,
  modules: [],
  lua: true,
  stream: true,
  streamRealip: true,
  realip: true,
  brotli: true,
  webp: true,
  slice: true,
  geoip2: true,
  http2: 'directive',
  http3: true,
  minFree: true,
  poolPerName: true,
};
const place = { dir: '/var/lib/edgeloom', luaDir: '/opt/edgeloom/lua', capabilities };
const folders: readonly [Form, string][] = [
  ['edge', ''],
  ['forwards', 'forwards/'],
];

/** The differing files. */
export function shownFiles(before: ZoneDoc, after: ZoneDoc): { path: string; before: string; after: string }[] {
  return folders.flatMap(([form, folder]) => {
    const [from, to] = [rendered(form, before, place), rendered(form, after, place)];
    return [...new Set([...from.keys(), ...to.keys()])]
      .sort()
      .map((name) => ({ path: `${folder}${name}`, before: from.get(name) ?? '', after: to.get(name) ?? '' }))
      .filter((file) => file.before !== file.after);
  });
}
