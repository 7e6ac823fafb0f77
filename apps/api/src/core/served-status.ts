/** The status of site `s` in SQL. A site is out of service when its owner or operator is. */
export const servedStatus = `coalesce(
  (SELECT a.status::text FROM accounts a
   WHERE a.status IN ('lock', 'expired') AND (a.id = s.owner_id OR a.client_id = s.client_id AND a.kind = 'client' AND a.is_root)
   ORDER BY a.status LIMIT 1),
  s.status::text)`;
