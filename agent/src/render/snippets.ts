// What an operator wrote for nginx, in files of its own: judged and written anew, so that no text of anybody's reaches nginx as it
// came. Where it sets what we set as well, ours is left out, since nginx takes most directives once.
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { placed, snippetParts } from '@edgeloom/contract/zone-settings/allowed.ts';
import type { Place } from '@edgeloom/contract/zone-settings/allowed.ts';
import { writeSnippet } from '@edgeloom/contract/zone-settings/snippet.ts';
import type { Directive } from '@edgeloom/contract/zone-settings/snippet.ts';
import { Conf, conf } from './conf.ts';

export type Snippets = ReadonlyMap<Place, readonly Directive[]>;

export const snippetsOf = ({ snippets }: Pick<ZoneDoc, 'snippets'>): Snippets =>
  new Map(snippetParts.flatMap((part) => [...placed(part, snippets?.[part] ?? '')]));

const fileOf = (place: Place) => `snippet-${place}.conf`;

/** Of these places, what there is. */
export const snippetFiles = (snippets: Snippets, places: readonly Place[]): [string, string][] =>
  places.flatMap((place) => {
    const directives = snippets.get(place);
    return directives === undefined ? [] : [[fileOf(place), writeSnippet(directives)] as [string, string]];
  });

/** Our lines, without those that the snippet says otherwise. */
function withoutSaid(snippets: Snippets, place: Place, { text }: Conf): Conf {
  const directives = snippets.get(place) ?? [];
  const said = new Set(directives.map(({ name }) => name.text).filter((name) => !several.has(name)));
  const kept = text.split('\n').filter((line) => {
    const [, name = ''] = /^\s*([a-z_]+) [^{}]*;$/.exec(line) ?? [];
    return !said.has(name);
  });
  return new Conf(kept.join('\n'));
}

/** nginx takes these as often as they come. */
const several = new Set([
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

/** Our text of a place, and the snippet after it. */
export const withSnippet = (snippets: Snippets, place: Place, ours: Conf): Conf =>
  snippets.has(place) ? conf`${withoutSaid(snippets, place, ours)}    include ${new Conf(fileOf(place))};\n` : ours;
