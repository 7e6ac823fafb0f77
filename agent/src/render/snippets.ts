// An operator's nginx snippets, in files of their own. They are parsed and printed again, so no text reaches nginx
// unchanged. Our directive is omitted where a snippet sets it, since most directives may appear once.
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { placed, snippetParts } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import type { Place } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { writeSnippet } from '@edgeloom/contract/zone-settings/snippet.ts';
import type { Directive } from '@edgeloom/contract/zone-settings/snippet.ts';
import { Conf, conf } from './conf.ts';

export type Snippets = ReadonlyMap<Place, readonly Directive[]>;

export const snippetsOf = ({ snippets }: Pick<ZoneDoc, 'snippets'>): Snippets =>
  new Map(snippetParts.flatMap((part) => [...placed(part, snippets?.[part] ?? '')]));

const fileOf = (place: Place) => `snippet-${place}.conf`;

/** The snippet files of these places. */
export const snippetFiles = (snippets: Snippets, places: readonly Place[]): [string, string][] =>
  places.flatMap((place) => {
    const directives = snippets.get(place);
    return directives === undefined ? [] : [[fileOf(place), writeSnippet(directives)] as [string, string]];
  });

/** Our lines without the directives that the snippet sets. */
function withoutOverridden(snippets: Snippets, place: Place, { text }: Conf): Conf {
  const directives = snippets.get(place) ?? [];
  const overridden = new Set(directives.map(({ name }) => name.text).filter((name) => !repeatable.has(name)));
  const remaining = text.split('\n').filter((line) => {
    const [, name = ''] = /^\s*([a-z_]+) [^{}]*;$/.exec(line) ?? [];
    return !overridden.has(name);
  });
  return new Conf(remaining.join('\n'));
}

/** Directives that may be repeated. */
const repeatable = new Set([
  'add_header',
  'proxy_set_header',
  'proxy_hide_header',
  'limit_req',
  'limit_conn',
  'limit_req_zone',
  'limit_conn_zone',
  'map',
  'allow',
  'deny',
]);

/** Our text of a place followed by its snippet. */
export const withSnippet = (snippets: Snippets, place: Place, ours: Conf): Conf =>
  snippets.has(place)
    ? conf`${withoutOverridden(snippets, place, ours)}    include ${new Conf(fileOf(place))};\n`
    : ours;
