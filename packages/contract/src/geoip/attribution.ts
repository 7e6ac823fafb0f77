/** Source of the bundled database of countries. Its license requires this credit where countries are shown. */
export const COUNTRY_SOURCE = {
  name: 'Number Resource Organization',
  url: 'https://www.nro.net/',
  license: 'CC BY 4.0',
  licenseUrl: 'https://creativecommons.org/licenses/by/4.0/',
} as const;
