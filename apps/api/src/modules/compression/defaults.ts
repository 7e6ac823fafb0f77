// The compression of a site before its owner changes it.
import { ImageType, USUAL_TYPES, type Compression } from '@edgeloom/contract/compression/compression.ts';

/** For a site without a row, created before FOR_NEW_SITES existed. */
export const WITHOUT_ROW: Compression = {
  gzip: false,
  brotli: false,
  types: USUAL_TYPES,
  minBytes: 1024,
  webp: false,
  webpQuality: 80,
  webpTypes: ImageType.options,
  webpMinBytes: 1024,
  webpMaxBytes: 10_485_760,
};
export const FOR_NEW_SITES: Compression = { ...WITHOUT_ROW, gzip: true, brotli: true };
