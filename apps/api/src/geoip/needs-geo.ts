const fields = ['country', 'province', 'continent', 'isp', 'asn'].map((name) => `@.field == "${name}"`).join(' || ');

/** SQL: whether zone `z` has a rule that needs the geo pack. */
export const needsGeo = `EXISTS (SELECT FROM firewall_geos r JOIN sites s ON s.id = r.site_id WHERE s.zone_id = z.id AND r.enabled)
  OR EXISTS (SELECT FROM modules m JOIN sites s ON s.id = m.site_id WHERE s.zone_id = z.id AND (m.kind = 'acl'
    AND jsonb_path_exists(m.settings, '$.rules[*].conditions[*] ? (${fields})')
    OR m.kind = 'luaAcl' AND m.settings->>'script' ~ 'request\\s*[.]\\s*(country|province|continent|isp|asn)'))`;
