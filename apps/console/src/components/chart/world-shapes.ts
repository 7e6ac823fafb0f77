// Countries of Natural Earth at 1:110 million (public domain), by ISO 3166 code. Loaded with the first map only.
import { geoEqualEarth } from 'd3-geo';
import type { Feature, FeatureCollection, Geometry } from 'geojson';
import { feature } from 'topojson-client';
import atlas from 'world-atlas/countries-110m.json';

/** Territories that are too small for this scale, as longitude and latitude. They are drawn as small discs. */
const small: Readonly<Record<string, readonly [number, number]>> = {
  SG: [103.8, 1.35],
  HK: [114.15, 22.35],
  MO: [113.5, 21.5],
  BH: [50.55, 26.1],
  MV: [73.5, 3.2],
  MU: [57.55, -20.3],
  RE: [55.5, -21.1],
  SC: [55.45, -4.6],
  MT: [14.4, 35.9],
  LI: [9.55, 47.15],
  AD: [1.55, 42.5],
  MC: [7.4, 43.7],
  SM: [12.45, 43.95],
  BM: [-64.8, 32.3],
  BB: [-59.55, 13.2],
  GP: [-61.5, 16.2],
  MQ: [-61, 14.65],
  CW: [-69, 12.2],
  KY: [-81.2, 19.3],
  CV: [-23.6, 15.1],
  GU: [144.8, 13.45],
  WS: [-172.1, -13.75],
  TO: [-175.2, -21.2],
  PF: [-149.4, -17.65],
};
const DISC_DEGREES = 1.1;
const DISC_CORNERS = 10;

function disc([longitude, latitude]: readonly [number, number]): Geometry {
  const ring = Array.from({ length: DISC_CORNERS + 1 }, (_, i) => {
    // Clockwise: d3-geo takes the other direction for everything outside of the ring.
    const angle = (-2 * Math.PI * (i % DISC_CORNERS)) / DISC_CORNERS;
    return [longitude + DISC_DEGREES * Math.cos(angle), latitude + DISC_DEGREES * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [ring] };
}

/** ISO 3166-1 alpha-2 of a numeric code, by the locale data of the browser. */
function codeOf(numeric: string): string {
  try {
    return new Intl.Locale(`und-${numeric.padStart(3, '0')}`).region ?? '';
  } catch {
    return '';
  }
}

const ANTARCTICA = 'AQ';
const named = (code: string, geometry: Geometry): Feature => ({
  type: 'Feature',
  properties: { name: code },
  geometry,
});

export const shapes: FeatureCollection = {
  type: 'FeatureCollection',
  features: [
    ...feature(atlas, atlas.objects.countries).features.flatMap(({ id, geometry }) => {
      const code = id === undefined ? '' : codeOf(String(id));
      return code === ANTARCTICA ? [] : [named(code, geometry)];
    }),
    ...Object.entries(small).map(([code, place]) => named(code, disc(place))),
  ],
};

const equalEarth = geoEqualEarth();
/** Cuts shapes at the antimeridian; without `stream` Russia would be a stripe over the whole map. */
export const projection = {
  project: (point: [number, number]) => equalEarth(point) ?? [0, 0],
  unproject: (point: [number, number]) => equalEarth.invert?.(point) ?? [0, 0],
  stream: equalEarth.stream.bind(equalEarth),
};
