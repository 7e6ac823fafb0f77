export interface Identified {
  id: string;
}
/** Response of a list. Without `total` it is complete. */
export interface PageOfRows<Row> {
  data: readonly Row[];
  total?: number;
  /** For a grouped list: the page's groups with their number of matching rows and of rows on earlier pages. */
  groups?: readonly GroupTally[];
}
export interface GroupTally {
  id: string;
  count: number;
  before: number;
}
const isPage = <Row>(reply: unknown): reply is PageOfRows<Row> =>
  typeof reply === 'object' && reply !== null && 'data' in reply && Array.isArray(reply.data);
export const pageOf = <Row>(reply: unknown): PageOfRows<Row> | null => (isPage<Row>(reply) ? reply : null);
