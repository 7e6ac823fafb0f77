import { inputs, words, type RuleFile } from '../rule.ts';

export const ldap: RuleFile = {
  category: 'ldap',
  model: {
    name: words('LDAP by structure', '結構像 LDAP 篩選', '结构像 LDAP 过滤'),
    description: words('The text is built like an LDAP filter.', '文字的結構像 LDAP 篩選條件。', '文本的结构像 LDAP 过滤条件。'),
  },
  rules: [
    { id: 'ldap-filter-break', severity: 'critical', paranoia: 1, targets: inputs, references: ['CWE-90'],
      pattern: String.raw`\*?\)\s*\(\s*[|&!]?\s*\(?\s*[a-z][\w-]{0,30}\s*(?:[~<>]?=)|\*\)\)|\)\(\||\)\(&|\(\s*[|&]\s*\(\s*\w{1,30}\s*=`, hits: ['*)(uid=*))(|(uid=*', 'x)(&(objectclass=*)'], misses: ['(a)(b)', 'f(x)=y'],
      name: words('Broken LDAP filter', '竄改 LDAP 篩選', '篡改 LDAP 过滤'), description: words('Closes a filter and adds a condition.', '關閉篩選並加入條件。', '关闭过滤并加入条件。') },
    { id: 'ldap-wildcard-class', severity: 'critical', paranoia: 1, targets: inputs, references: ['CWE-90'],
      pattern: String.raw`\(\s*(?:objectclass|samaccountname|userpassword|memberof|uid|cn|sn|mail)\s*[~<>]?=\s*\*?`, hits: ['(objectclass=*)', '(cn=a*)'], misses: ['objectclass', 'cn=a,dc=b'],
      name: words('LDAP condition', 'LDAP 條件', 'LDAP 条件'), description: words('A condition on attributes of a directory.', '針對目錄屬性的條件。', '针对目录属性的条件。') },
    { id: 'ldap-null-filter', severity: 'error', paranoia: 2, targets: inputs, references: ['CWE-90'],
      pattern: String.raw`^[\w@.-]{0,40}\*?\)(?:\(|%00|\x00|&)|^\*\(\|`, hits: ['admin)(&', '*(|(mail=*))'], misses: ['f(x)', 'smile :)'],
      name: words('Closed filter', '關閉的篩選', '关闭的过滤'), description: words('A value that ends an LDAP filter.', '結束 LDAP 篩選的值。', '结束 LDAP 过滤的值。') },
  ],
};
