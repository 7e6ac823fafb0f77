// Common token formats, as initial values of the form.
import type * as z from 'zod';
import type { TokenAuthItem } from './token-auths.ts';

type Fields = Omit<z.input<typeof TokenAuthItem>, 'keys' | 'name' | 'type' | 'value' | 'except' | 'enabled'>;
export interface TokenPreset {
  id: string;
  name: string;
  fields: Fields;
}

const signedAt = {
  timeMeans: 'signed',
  timeFormat: 'seconds',
  utcOffset: 0,
  encoding: 'hex',
  validSeconds: 1800,
} as const;
const goodUntil = { ...signedAt, timeMeans: 'expires' } as const;
const oneParameter = [{ name: 'auth_key', format: '{time}-{rand}-{user}-{sign}' }];

export const tokenPresets: readonly TokenPreset[] = [
  {
    id: 'alibabaA',
    name: 'Alibaba Cloud A',
    fields: {
      ...signedAt,
      place: 'query',
      parts: oneParameter,
      text: '{path}-{time}-{rand}-{user}-{key}',
      algorithm: 'md5',
    },
  },
  {
    id: 'alibabaB',
    name: 'Alibaba Cloud B',
    fields: {
      ...signedAt,
      place: 'path',
      parts: [{ name: '', format: '{time}/{sign}' }],
      text: '{key}{time}{path}',
      algorithm: 'md5',
      timeFormat: 'minutes',
      utcOffset: 480,
    },
  },
  {
    id: 'alibabaC',
    name: 'Alibaba Cloud C',
    fields: {
      ...signedAt,
      place: 'path',
      parts: [{ name: '', format: '{sign}/{time}' }],
      text: '{key}{path}{time}',
      algorithm: 'md5',
      timeFormat: 'hex',
    },
  },
  {
    id: 'tencentA',
    name: 'Tencent Cloud A',
    fields: {
      ...signedAt,
      place: 'query',
      parts: [{ name: 'sign', format: '{time}-{rand}-{user}-{sign}' }],
      text: '{path}-{time}-{rand}-{user}-{key}',
      algorithm: 'md5',
    },
  },
  {
    id: 'tencentB',
    name: 'Tencent Cloud B',
    fields: {
      ...signedAt,
      place: 'path',
      parts: [{ name: '', format: '{time}/{sign}' }],
      text: '{key}{time}{path}',
      algorithm: 'md5',
      timeFormat: 'minutes',
      utcOffset: 480,
    },
  },
  {
    id: 'tencentC',
    name: 'Tencent Cloud C',
    fields: {
      ...signedAt,
      place: 'path',
      parts: [{ name: '', format: '{sign}/{time}' }],
      text: '{key}{path}{time}',
      algorithm: 'md5',
      timeFormat: 'hex',
    },
  },
  {
    id: 'tencentD',
    name: 'Tencent Cloud D',
    fields: {
      ...signedAt,
      place: 'query',
      parts: [
        { name: 'sign', format: '{sign}' },
        { name: 't', format: '{time}' },
      ],
      text: '{key}{path}{time}',
      algorithm: 'md5',
    },
  },
  {
    id: 'cloudflare',
    name: 'Cloudflare (HMAC)',
    fields: {
      ...signedAt,
      place: 'query',
      parts: [{ name: 'verify', format: '{time}-{sign}' }],
      text: '{path}{time}',
      algorithm: 'hmacSha256',
      encoding: 'base64',
    },
  },
  {
    id: 'akamai',
    name: 'Akamai (exp, hmac)',
    fields: {
      ...goodUntil,
      place: 'query',
      parts: [{ name: 'hdnts', format: 'exp={time}~hmac={sign}' }],
      text: 'exp={time}~url={path}',
      algorithm: 'hmacSha256',
    },
  },
  {
    id: 'cloudFront',
    name: 'CloudFront (Expires, Signature)',
    fields: {
      ...goodUntil,
      place: 'query',
      parts: [
        { name: 'Expires', format: '{time}' },
        { name: 'Signature', format: '{sign}' },
      ],
      text: '{uri}{time}',
      algorithm: 'hmacSha256',
      encoding: 'base64url',
    },
  },
  {
    id: 'secureLink',
    name: 'nginx secure_link',
    fields: {
      ...goodUntil,
      place: 'query',
      parts: [
        { name: 'md5', format: '{sign}' },
        { name: 'expires', format: '{time}' },
      ],
      text: '{time}{decodedPath}{address} {key}',
      algorithm: 'md5',
      encoding: 'base64url',
    },
  },
];
