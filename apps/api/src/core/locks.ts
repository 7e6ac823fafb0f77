// Every advisory lock of the database that we take. Two things by one number would wait for each other, or be passed over. Processes of two
// versions may be at work at once, so what has a number keeps it.

/** Taken alone. */
export const locks = {
  migrations: 7_305_019_114,
  masterKey: 7_305_019_115,
  demo: 7_305_019_116,
  steering: 7_305_019_207,
} as const;

/** Taken with hashtext() of whose it is, or with 0 where there is one. */
export const lockClasses = {
  zoneDocuments: 7305,
  revocations: 7306,
  zoneKeys: 7307,
  /** Also by the trigger that numbers them. */
  siteVersions: 7308,
  blockPushes: 7309,
  acmeRecords: 7310,
  dnsPlans: 7311,
  dnsSettings: 7312,
  /** Taken by lock_names(), with a number made of a name's last two labels. */
  nameClaims: 7313,
} as const;
