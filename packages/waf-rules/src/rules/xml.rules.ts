import { inputs, words, type RuleFile } from '../rule.ts';

export const xml: RuleFile = {
  category: 'xml',
  model: {
    name: words('XML by structure', '結構像 XML 攻擊', '结构像 XML 攻击'),
    description: words('The document is built like an attack on an XML parser.', '文件的結構像針對 XML 剖析器的攻擊。', '文档的结构像针对 XML 解析器的攻击。'),
  },
  rules: [
    { id: 'xml-external-entity', severity: 'critical', paranoia: 1, alone: true, targets: ['document', ...inputs, 'decoded', 'path'], references: ['CWE-611'],
      pattern: String.raw`<!(?:entity|doctype)\b(?!\s+\w{1,20}\s+public\s*(["'])-//(?:w3c|apple|apple computer|ietf)//dtd [^"'<>]{1,60}\1(?:\s*(["'])https?://www\.(?:w3\.org|apple\.com)/[\w./-]{1,80}\2)?\s*>)[^>]{0,300}?\b(?:system|public)\s*["'][^"'>]{0,200}(?:file:|https?:|ftp:|php:|expect:|gopher:|jar:|netdoc:|/etc/|\.dtd|["'])`, hits: ['<!entity x system "file:///etc/passwd">', '<!DOCTYPE a SYSTEM "http://x/a.dtd">', '<!DOCTYPE a PUBLIC "-//W3C//DTD a" "http://www.w3.org.example/a">', '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/a.dtd" [ <!ENTITY x SYSTEM "file:///etc/passwd"> ]>'], misses: ['<!doctype html>', '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">', '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">', '<a system="x"/>'],
      name: words('External entity', '外部實體', '外部实体'), description: words('Makes the parser read a file or a URL.', '使剖析器讀取檔案或 URL。', '使解析器读取文件或 URL。') },
    { id: 'xml-parameter-entity', severity: 'critical', paranoia: 1, alone: true, targets: ['document', ...inputs], references: ['CWE-611'],
      pattern: String.raw`<!entity\s+%\s+\w`, hits: ['<!entity % x "a">'], misses: ['<!element a>', '% entity'],
      name: words('Parameter entity', '參數實體', '参数实体'), description: words('Entities for use within the document type.', '在文件類型中使用的實體。', '在文档类型中使用的实体。') },
    { id: 'xml-entity-expansion', severity: 'critical', paranoia: 1, targets: ['document', 'raw', 'form'], references: ['CWE-776'],
      pattern: String.raw`<!entity\s+\w{1,40}\s+["'][^"']{0,200}&\w{1,40};[^"']{0,60}&\w{1,40};`, hits: ['<!entity b "&a;&a;&a;">'], misses: ['&amp;&amp;', '<!entity a "b">'],
      name: words('Nested entities', '巢狀實體', '嵌套实体'), description: words('Entities that grow until memory is full.', '會膨脹到耗盡記憶體的實體。', '会膨胀到耗尽内存的实体。') },
    { id: 'xml-inclusion', severity: 'critical', paranoia: 1, targets: ['document', ...inputs], references: ['CWE-611'],
      pattern: String.raw`<xi:include\b|xmlns:xi\s*=|<xsl:(?:value-of|include|import|template|stylesheet)\b|document\s*\(\s*['"](?:file|http|/)`, hits: ['<xi:include href="file:///etc/passwd"/>', '<xsl:value-of select="x"/>'], misses: ['<include/>', 'xsl files'],
      name: words('XInclude or XSLT', 'XInclude 或 XSLT', 'XInclude 或 XSLT'), description: words('Elements that load files or run code.', '載入檔案或執行程式碼的元素。', '加载文件或执行代码的元素。') },
    { id: 'xml-xpath', severity: 'critical', paranoia: 1, targets: inputs, references: ['CWE-643'],
      pattern: String.raw`['"]\s*(?:or|and)\s+(?:count|string-length|substring|name|contains|starts-with)\s*\(|['"\]]\s*\|\s*//\*|(?:parent|child|descendant|ancestor|following)::(?:node|\*|text|\w)`, hits: ["' or count(/*)=1", "x'] | //*", 'parent::node()'], misses: ['a // comment', 'count (5)'],
      name: words('XPath', 'XPath', 'XPath'), description: words('Changes a query for XML nodes.', '竄改 XML 節點查詢。', '篡改 XML 节点查询。') },
    { id: 'xml-internal-doctype', severity: 'warning', paranoia: 3, targets: ['document'], references: ['CWE-611'],
      pattern: String.raw`<!doctype\s+(?!html\b)[^>\[]{0,100}\[`, hits: ['<!doctype a [ <!element a> ]>'], misses: ['<!doctype html>'],
      name: words('Document type with declarations', '含宣告的文件類型', '含声明的文档类型'), description: words('Ordinary interfaces send none.', '一般介面不會傳送。', '普通接口不会发送。') },
  ],
};
