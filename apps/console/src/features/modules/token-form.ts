// An entry in the editor: the body's format, with new keys or keys known by id.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { tokenPresets } from '@edgeloom/contract/modules/token-presets.ts';

export type TokenAuth = Received<typeof tokenAuths.list>['data'][number];
export type StoredEntry = TokenAuth['auths'][number];
export type KeyDraft = { id: string; createdAt: string } | { key: string };
export interface Entry extends Omit<StoredEntry, 'id' | 'keys'> {
  id?: string;
  keys: KeyDraft[];
}

/** 32 letters and digits, about 190 bits. */
export function newKey(): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
  // Avoids modulo bias.
  const most = 256 - (256 % letters.length);
  let key = '';
  while (key.length < 32)
    for (const byte of crypto.getRandomValues(new Uint8Array(64)))
      if (byte < most && key.length < 32) key += letters[byte % letters.length] ?? '';
  return key;
}

export const freshEntry = (): Entry => ({
  name: '',
  enabled: true,
  type: 'all',
  value: [],
  except: null,
  leewaySeconds: 60,
  action: 'deny',
  target: null,
  keys: [{ key: newKey() }],
  ...formOf('alibabaA'),
});

type Form = Pick<
  Entry,
  'place' | 'parts' | 'text' | 'algorithm' | 'encoding' | 'timeFormat' | 'utcOffset' | 'timeMeans' | 'validSeconds'
>;

/** Fields of a preset. */
export function formOf(id: string): Form {
  const fields = tokenPresets.find((preset) => preset.id === id)?.fields ?? tokenPresets[0]?.fields;
  if (!fields) throw new Error('There is no form of tokens');
  return {
    place: fields.place ?? 'query',
    parts: fields.parts.map(({ name = '', format }) => ({ name, format })),
    text: fields.text,
    algorithm: fields.algorithm,
    encoding: fields.encoding ?? 'hex',
    timeFormat: fields.timeFormat ?? 'seconds',
    utcOffset: fields.utcOffset ?? 0,
    timeMeans: fields.timeMeans ?? 'signed',
    validSeconds: fields.validSeconds ?? 1800,
  };
}

const shape = ({ place, parts, text, algorithm, encoding, timeFormat, utcOffset, timeMeans }: Form) =>
  JSON.stringify([
    place,
    parts.map(({ name, format }) => [name, format]),
    text,
    algorithm,
    encoding,
    timeFormat,
    utcOffset,
    timeMeans,
  ]);

/** The preset that the entry equals, or null. The first of identical presets. */
export const presetOf = (entry: Entry): string | null =>
  tokenPresets.find(({ id }) => shape(formOf(id)) === shape(entry))?.id ?? null;

/** An example of the token in a request. */
export function exampleOf({ place, parts }: Pick<Entry, 'place' | 'parts'>): string {
  const pairs = parts.map(({ name, format }) => ({ name, format }));
  if (place === 'path') return `/${pairs[0]?.format ?? ''}/…`;
  if (place === 'query') return `…?${pairs.map(({ name, format }) => `${name}=${format}`).join('&')}`;
  if (place === 'header') return pairs.map(({ name, format }) => `${name}: ${format}`).join(', ');
  return `Cookie: ${pairs.map(({ name, format }) => `${name}=${format}`).join('; ')}`;
}
