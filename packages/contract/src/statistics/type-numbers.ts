/** Numbers of the specification; 26 and 27 are our own. */
export const cardTypes = { traffic: 3, requests: 4, hitRate: 5, addresses: 14, bandwidth95: 15 } as const;
export const seriesTypes = { bandwidthAndTraffic: 2, status: 12, protocol: 13, outcome: 26 } as const;
export const topTypes = {
  country: 11,
  status: 12,
  address: 14,
  isp: 18,
  url: 19,
  referer: 20,
  province: 21,
  method: 22,
  httpVersion: 23,
  blacklist: 24,
  wafRule: 25,
  wafMonitored: 27,
} as const;
