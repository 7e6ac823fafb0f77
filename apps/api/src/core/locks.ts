// All advisory locks of the database. Different purposes must not share a number. Processes of two versions may run at
// once, so numbers never change.

/** Locks without an argument. */
export const locks = {
  migrations: 7_305_019_114,
  masterKey: 7_305_019_115,
  demo: 7_305_019_116,
  steering: 7_305_019_207,
  topValues: 7_305_019_208,
  logSpool: 7_305_019_209,
  shipments: 7_305_019_210,
  alerts: 7_305_019_211,
} as const;

/** Combined with hashtext() of the owner, or 0. */
export const lockClasses = {
  zoneDocuments: 7305,
  revocations: 7306,
  zoneKeys: 7307,
  /** Also taken by the trigger that numbers versions. */
  siteVersions: 7308,
  blockPushes: 7309,
  acmeRecords: 7310,
  dnsPlans: 7311,
  dnsSettings: 7312,
  /** Taken by lock_names() with a hash of a name's last two labels. */
  nameClaims: 7313,
  partitions: 7314,
} as const;
