import { inputs, words, type RuleFile } from '../rule.ts';

const refs = ['CWE-943'];
export const nosqli: RuleFile = {
  category: 'nosqli',
  model: {
    name: words('NoSQL by structure', '結構像 NoSQL 注入', '结构像 NoSQL 注入'),
    description: words('The text is built like operators of a document database.', '文字的結構像文件資料庫運算子。', '文本的结构像文档数据库操作符。'),
  },
  rules: [
    { id: 'nosqli-operator-name', severity: 'critical', paranoia: 1, alone: true, targets: ['name'], references: refs,
      pattern: String.raw`\[\s*\$(?:ne|eq|gte?|lte?|n?in|regex|where|exists|or|and|not|type|size|elemmatch|expr)\s*\]`, hits: ['password[$ne]', 'user[$regex]'], misses: ['price[ne]', 'a[$x]'],
      name: words('Operator in a parameter name', '參數名稱中的運算子', '参数名中的操作符'), description: words('Frameworks turn such names into queries.', '框架會將這類名稱轉為查詢。', '框架会将这类名称转为查询。') },
    { id: 'nosqli-where-name', severity: 'critical', paranoia: 1, targets: ['name'], references: refs,
      pattern: String.raw`^\$(?:where|expr|function|accumulator)$`, hits: ['$where'], misses: ['where', '$in'],
      name: words('Code operator', '程式碼運算子', '代码操作符'), description: words('Operators of MongoDB that run code.', '會執行程式碼的 MongoDB 運算子。', '会执行代码的 MongoDB 操作符。') },
    { id: 'nosqli-operator-value', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`\{\s*['"]?\$(?:ne|gte?|lte?|n?in|regex|where|exists|or|and|nor|not|expr)['"]?\s*:`, hits: [`{"$ne": null}`, '{$gt: ""}'], misses: ['{price: 5}', '$in'],
      name: words('Operator in a value', '值中的運算子', '值中的操作符'), description: words('A query object instead of a text.', '以查詢物件取代文字。', '以查询对象取代文本。') },
    { id: 'nosqli-script', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`['"]\s*(?:;|\|\||&&)\s*(?:return\b|this\.\w{1,40}|sleep\s*\(|while\s*\(|var\s+\w+\s*=|it=new|['"]\w{0,20}['"]\s*==|\d+\s*==\s*\d)|;\s*return\s+(?:true|1|['"])`, hits: ["'; return true; var a='", "' || '1'=='1", "' || this.password"], misses: ["it's; return the item", "'a'"],
      name: words('Script in a query', '查詢中的腳本', '查询中的脚本'), description: words('Ends a text in a JavaScript query.', '在 JavaScript 查詢中結束字串。', '在 JavaScript 查询中结束字符串。') },
    { id: 'nosqli-mongo-calls', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`\bdb\.\w{1,40}\.(?:find|insert|drop|remove|update|aggregate|mapreduce)\s*\(|\bmapreduce\s*\(\s*function|\bdb\.(?:getcollectionnames|injection|version)\s*\(`, hits: ['db.users.find({})', 'db.injection.insert({success:1})'], misses: ['db users find'],
      name: words('MongoDB call', 'MongoDB 呼叫', 'MongoDB 调用'), description: words('Commands of the MongoDB shell.', 'MongoDB shell 的命令。', 'MongoDB shell 的命令。') },
  ],
};
