import { inputs, words, type RuleFile } from '../rule.ts';

export const graphql: RuleFile = {
  category: 'graphql',
  model: {
    name: words('GraphQL by structure', '結構像 GraphQL 攻擊', '结构像 GraphQL 攻击'),
    description: words('The query is built like an attack.', '查詢的結構像攻擊。', '查询的结构像攻击。'),
  },
  rules: [
    { id: 'graphql-introspection', severity: 'error', paranoia: 2, targets: inputs, references: ['CWE-200'],
      pattern: String.raw`\b__schema\b\s*\{|\bintrospectionquery\b|\b__type\s*\(\s*name`, hits: ['{__schema{types{name}}}', 'query introspectionquery {x}'], misses: ['{user{name}}', 'schema'],
      name: words('Introspection', '結構自省', '结构自省'), description: words('Asks for the whole schema.', '要求完整的結構描述。', '要求完整的结构描述。') },
    { id: 'graphql-deep-query', severity: 'critical', paranoia: 1, targets: inputs, references: ['CWE-400'],
      pattern: String.raw`(?:\{\s*\w{1,60}(?:\([^)]{0,60}\))?\s*){13}\{`, hits: [`query${'{a'.repeat(14)}{b`], misses: ['{a{b{c}}}', '{{{'],
      name: words('Deep query', '過深的查詢', '过深的查询'), description: words('A query nested more than twelve levels.', '巢狀超過十二層的查詢。', '嵌套超过十二层的查询。') },
    { id: 'graphql-many-aliases', severity: 'error', paranoia: 2, targets: inputs, references: ['CWE-770'],
      pattern: String.raw`(?:\b\w{1,40}\s*:\s*\w{1,60}\s*\([^)]{0,200}\)\s*(?:\{[^}]{0,100}\})?[\s,]*){20}`, hits: ['{' + 'a:login(p:1) '.repeat(21) + '}'], misses: ['{a:login(p:1)}'],
      name: words('Many aliases', '大量別名', '大量别名'), description: words('One query that tries the same call many times.', '在一個查詢中多次嘗試同一呼叫。', '在一个查询中多次尝试同一调用。') },
    { id: 'graphql-circular-fragment', severity: 'error', paranoia: 2, targets: inputs, references: ['CWE-674'],
      pattern: String.raw`\bfragment\s+(\w{1,40})\s+on\s+\w{1,60}\s*\{[^}]{0,200}\.\.\.\s*\1\b`, hits: ['fragment a on b { ...a }'], misses: ['fragment a on b { ...c }'],
      name: words('Circular fragment', '循環片段', '循环片段'), description: words('A fragment that contains itself.', '包含自身的片段。', '包含自身的片段。') },
  ],
};
