// The common interface of DNS providers.
import type { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import type { outboundFetch } from '../core/outbound-fetch.ts';
import type { RecordType } from './names.ts';

/** A class of visitors with its own records. */
export interface DnsLine {
  id: string;
  name: string;
}
/** The records of a name: one set per type and line. */
export interface DnsRecords {
  /** The full name without a final dot. */
  name: string;
  type: RecordType;
  /** All values of the set. TXT values are unquoted. */
  values: string[];
  ttlSeconds: number;
  /** Relative weights, one value per response. Without weights all values are returned. */
  weights?: number[];
  /** The provider's line. Undefined: the default line. */
  line?: string;
}
export interface DnsAccount {
  /** Empty: the provider supports no lines. */
  lines: (zone: string) => Promise<DnsLine[]>;
  weighting: (zone: string) => Promise<Weighting>;
  /** Lists the whole zone, or one name. */
  list: (zone: string, name?: string) => Promise<DnsRecords[]>;
  /** Makes the set have exactly these values, without a moment of none. */
  upsert: (zone: string, records: DnsRecords) => Promise<void>;
  remove: (zone: string, set: DnsKey) => Promise<void>;
  /** Applies many changes atomically, where the vendor supports it. */
  change?: (zone: string, changes: DnsChange[]) => Promise<void>;
  /** Otherwise: lists the zone once before many changes. */
  readAhead?: (zone: string) => Promise<void>;
  /** Otherwise: number of concurrent names. */
  concurrency?: number;
}

/** Identifies a set within a zone. */
export type DnsKey = Pick<DnsRecords, 'name' | 'type' | 'line'>;
export type DnsChange = { put: DnsRecords } | { drop: DnsKey };

/** An HTTP call to a provider, within the installation's policy for outbound addresses. */
export type Ask = ReturnType<typeof outboundFetch>;
