// The catalogue. Code says `fail('ZONE_NAME_TAKEN')`, the wire carries the number; several names may share a number
// where `rule` or the status tells them apart.
export interface ErrorEntry {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  /** What errorData says when the thrower gave no particulars. */
  readonly rule?: string;
  readonly path?: string;
}

const parameter = { code: 101_003, message: 'Parameter Error' } as const;

export const errors = {
  UNKNOWN: { code: 101_002, status: 500, message: 'Unknown Error' },
  PARAMETER: { ...parameter, status: 400 },
  NOT_FOUND: { ...parameter, status: 404, rule: 'notFound' },
  STILL_ENABLED: { ...parameter, status: 409, rule: 'enabled' },
  PORT_HELD: { ...parameter, status: 409, rule: 'portHeld' },
  STILL_IN_USE: { ...parameter, status: 409, rule: 'inUse' },
  NO_BACKUP_GROUP: { ...parameter, status: 409, rule: 'backupGroup' },
  LIMIT_REACHED: { ...parameter, status: 409, rule: 'limit' },
  NAME_UNPROVEN: { ...parameter, status: 409, rule: 'nameProof' },
  PUBLIC_SUFFIX: { ...parameter, status: 400, rule: 'publicSuffix' },
  BUSY: { ...parameter, status: 409, rule: 'busy' },
  CHANGED: { ...parameter, status: 412, rule: 'changed', path: 'If-Match' },
  TOO_LARGE: { ...parameter, status: 413, rule: 'size' },
  WRONG_TYPE: { ...parameter, status: 415, rule: 'contentType' },
  RATE_LIMITED: { ...parameter, status: 429, rule: 'rate' },
  NO_SUCH_CALL: { code: 101_004, status: 404, message: 'API Path Invalid' },
  DATABASE_UNAVAILABLE: { code: 101_005, status: 503, message: 'Database Execution Error' },
  INVALID_DNS_SETTING: { code: 101_006, status: 400, message: 'Invalid DNS Setting' },
  PROXY_CONNECTION_FAILED: { code: 101_007, status: 502, message: 'Proxy Connection Failed' },
  ACCOUNT_NOT_ENABLED: { code: 101_008, status: 403, message: 'Account Is Not Enabled' },
  MULTIPLE: { code: 101_009, status: 400, message: 'Multiple Errors' },
  DNS_FAILED: { code: 101_010, status: 502, message: 'DNS Execution Error' },
  INCONSISTENT_PORTS: { code: 101_011, status: 400, message: 'Inconsistent Ports' },
  CREDENTIAL_REFUSED: { code: 101_012, status: 401, message: 'Failed To Auth The Credential' },
  INVALID_TOKEN: { code: 101_013, status: 401, message: 'Invalid Token' },
  TOKEN_EXPIRED: { code: 101_014, status: 401, message: 'Token Expired' },
  REVOKE_FAILED: { code: 101_015, status: 401, message: 'Revoke Token Failed' },
  REFRESH_FAILED: { code: 101_016, status: 401, message: 'Refresh Token Failed' },
  EMAIL_TAKEN: { code: 101_017, status: 409, message: 'Duplicate Email' },
  PERMISSION_DENIED: { code: 101_018, status: 403, message: 'Permission Denied' },
  LICENSE_EXPIRED: { code: 101_019, status: 403, message: 'License Expired' },
  ILLEGAL_EMAIL_SETTINGS: { code: 101_020, status: 400, message: 'Illegal Email Settings' },
  ILLEGAL_TELEGRAM_TOKEN: { code: 101_021, status: 400, message: 'Illegal Telegram Token' },
  LICENSE_NOT_FOUND: { code: 101_022, status: 404, message: 'License Does Not Exist' },
  ILLEGAL_PORT_TYPE: { code: 101_023, status: 400, message: 'Illegal Port Type' },
  INVALID_LICENSE_SERVER: { code: 101_024, status: 502, message: 'Invalid License Server' },
  DUPLICATED: { code: 101_025, status: 409, message: 'Duplicated data' },
  ZONE_HAS_NODES: { code: 201_001, status: 409, message: 'Please Remove Nodes In This Zone' },
  ZONE_NAME_TAKEN: { code: 201_002, status: 409, message: 'Zone Name Already Exists' },
  ZONE_LIMIT: { code: 201_003, status: 403, message: 'The Number Of Regions Exceeds The Limit' },
  NODE_UNREACHABLE: { code: 202_001, status: 502, message: 'Node Communication Error' },
  NODE_LIMIT: { code: 202_002, status: 403, message: 'The Number Of Nodes Exceeds The Upper Limit' },
  NODE_IN_GROUP: { code: 202_003, status: 409, message: 'Node Exists In Group' },
  NODE_IN_VIRTUAL_NODE: { code: 202_004, status: 409, message: 'Node Exists In Virtual Node' },
  PORT_TYPE_4_IN_USE: { code: 202_005, status: 409, message: 'Port Type 4 In Use' },
  INVALID_NODE_TIME: { code: 202_006, status: 409, message: 'Invalid Node Time' },
  NODE_VERSION_MISMATCH: { code: 202_008, status: 409, message: 'Node Version Does Not match' },
  GROUP_ACTIVE: { code: 203_001, status: 409, message: 'Unable To Delete Active Group' },
  GROUP_SITES_IN_USE: { code: 203_002, status: 409, message: 'Site Is In Use' },
  GROUP_NODE_LIMIT: { code: 203_003, status: 409, message: 'The number of grouped nodes has reached the limit' },
  INVALID_GROUP_NODE: { code: 203_005, status: 409, message: 'Invalid group node' },
  LAYER_4_GROUP_IN_USE: { code: 204_001, status: 409, message: 'Layer 4 Group Is In Use' },
  PRODUCT_IN_USE: { code: 204_002, status: 409, message: 'Product Is In Use' },
  PRODUCT_SITE_LIMIT: { code: 204_003, status: 403, message: 'The Number Of Product Sites Exceeds The Limit' },
  SITE_LIMIT: { code: 205_001, status: 403, message: 'The Number Of Sites Exceeds The Limit' },
  SITE_STATUS_REFUSED: { code: 205_002, status: 409, message: 'Site Status Not Allowed To Be Set' },
  SITE_IN_USE: { code: 205_003, status: 409, message: 'The Site In Use' },
  SITE_HAS_L4_PORTS: { code: 205_004, status: 409, message: 'The Site Has L4 Port Settings' },
  SITE_HAS_DOMAINS: { code: 205_005, status: 409, message: 'The Site Has An L7 Domain Name Setting' },
  SITE_TRAFFIC_LIMITED: { code: 205_006, status: 409, message: 'Please Lift Traffic Restrictions' },
  REDIRECT_LIMIT: { code: 205_007, status: 409, message: 'The upper limit of redirect rules is 3,000' },
  VIRTUAL_NODE_IN_USE: { code: 206_001, status: 409, message: 'Virtual Node In Use' },
  INVALID_CERTIFICATE_NAME: { code: 301_001, status: 400, message: 'Invalid Certificate Name' },
  DOMAIN_TAKEN: { code: 401_001, status: 409, message: 'Unable To Enable Duplicate Domains' },
  DOMAIN_LIMIT: { code: 401_002, status: 403, message: 'The Number Of Domain Names Exceeds The Limit' },
  ILLEGAL_PORT_MAP: { code: 401_003, status: 400, message: 'Illegal Port Mapping Settings' },
  AUTO_SSL_LIMIT: { code: 401_004, status: 403, message: 'The Number Of Auto SSL Exceeds The Limit' },
  PORT_LIMIT: { code: 401_007, status: 403, message: 'Port Counts Exceeds The Limit' },
  NO_ENABLED_UPSTREAM: { code: 401_008, status: 409, message: 'Upstream without enabled' },
  EXPORTS_AT_ONCE: { code: 601_001, status: 429, message: 'The simultaneous download quantity has reached the limit' },
  EXPORTS_A_DAY: { code: 601_002, status: 429, message: 'The daily download limit has been reached' },
  ILLEGAL_LICENSE: { code: 900_001, status: 403, message: 'Illegal License' },
  DUPLICATE_KEYS: { code: 10_102_502, status: 400, message: 'Duplicate keys are not allowed' },
  SELF_CHECK_FAILED: { code: 4003, status: 503, message: 'self check error' },
  SUPPLIER_FAILED: { code: 4004, status: 502, message: 'supplier (provider) error' },
  UNKNOWN_4005: { code: 4005, status: 500, message: 'unknown' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorName = keyof typeof errors;

/** The body of every failed call. errorData of PARAMETER: `{ path, rule, message }`; of MULTIPLE: `{ code, targets }`. */
export interface ErrorEnvelope {
  isError: true;
  code: number;
  message: string;
  errorData: unknown[];
  extra: Record<string, unknown>;
  reqID: string;
}
