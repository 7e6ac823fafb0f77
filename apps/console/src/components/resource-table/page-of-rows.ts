/** What every list answers; without a total it is whole. */
export interface PageOfRows<Row> {
  data: readonly Row[];
  total?: number;
  /** Of a grouped list: the groups on the page, each with how many rows match and how many are on earlier pages. */
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
