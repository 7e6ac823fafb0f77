import { inputs, words, type RuleFile } from '../rule.ts';

export const deserialization: RuleFile = {
  category: 'deserialization',
  model: {
    name: words('Serialised object by structure', '結構像序列化物件', '结构像序列化对象'),
    description: words('The text is built like an object that runs code when it is read.', '文字的結構像讀取時會執行程式碼的物件。', '文本的结构像读取时会执行代码的对象。'),
  },
  rules: [
    { id: 'deserialization-java-stream', severity: 'critical', paranoia: 1, alone: true, targets: [...inputs, 'header'], references: ['CWE-502'],
      pattern: String.raw`(?:^|[^a-z0-9+/])ro0ab[xqn][a-z0-9+/]{8}|\xac\xed\x00\x05`, hits: ['rO0ABXNyABFqYXZhLnV0aWw='], misses: ['ro0abc', 'hero0abxyz'],
      name: words('Java object stream', 'Java 物件串流', 'Java 对象流'), description: words('A serialised object of Java.', '序列化的 Java 物件。', '序列化的 Java 对象。') },
    { id: 'deserialization-java-gadget', severity: 'critical', paranoia: 1, alone: true, targets: [...inputs, 'header', 'document', 'name'], references: ['CWE-502'],
      pattern: String.raw`\b(?:org\.apache\.commons\.(?:collections|beanutils)\d?\.|com\.sun\.(?:rowset\.jdbcrowsetimpl|org\.apache\.xalan)|javax\.naming\.initialcontext|invokertransformer|templatesimpl|java\.lang\.processbuilder|org\.springframework\.(?:beans\.factory|context\.support\.(?:classpath|filesystem)xml)|ch\.qos\.logback\.core\.db)`, hits: ['org.apache.commons.collections.functors.InvokerTransformer', 'com.sun.rowset.jdbcrowsetimpl'], misses: ['apache commons', 'spring'],
      name: words('Java gadget class', 'Java gadget 類別', 'Java gadget 类'), description: words('Classes with which objects run code.', '可用物件執行程式碼的類別。', '可用对象执行代码的类。') },
    { id: 'deserialization-fastjson', severity: 'critical', paranoia: 1, targets: inputs, references: ['CVE-2017-18349'],
      pattern: String.raw`"?@type"?\s*:\s*"(?:l?com\.|java\.|org\.|javax\.|\[com)`, hits: ['{"@type":"com.sun.rowset.x"}', '"@type": "java.net.inet4address"'], misses: ['{"@type":"person"}', 'type: com'],
      name: words('Typed JSON', '指定型別的 JSON', '指定类型的 JSON'), description: words('JSON that names the class to create.', '指定要建立之類別的 JSON。', '指定要创建的类的 JSON。') },
    { id: 'deserialization-dotnet', severity: 'critical', paranoia: 1, targets: [...inputs, 'document'], references: ['CWE-502'],
      pattern: String.raw`\b(?:system\.windows\.data\.objectdataprovider|system\.diagnostics\.process|system\.configuration\.install|typeconfusedelegate|windowsidentity|activitysurrogateselector)\b|(?:^|[^a-z0-9+/])aaeaaad/{5}`, hits: ['system.windows.data.objectdataprovider', 'AAEAAAD/////AQAAAAAAAAA'], misses: ['system diagnostics'],
      name: words('.NET gadget', '.NET gadget', '.NET gadget'), description: words('Types with which .NET objects run code.', '可用 .NET 物件執行程式碼的型別。', '可用 .NET 对象执行代码的类型。') },
    { id: 'deserialization-python', severity: 'critical', paranoia: 1, targets: inputs, references: ['CWE-502'],
      pattern: String.raw`\bc(?:posix|nt|os|subprocess|__builtin__|builtins)\n(?:system|popen|eval|exec|check_output)\b|!!python/(?:object|name|module)|!ruby/(?:object|hash)|!!javax?\.|_\$\$nd_func\$\$_`, hits: ['cos\nsystem\n(s', '!!python/object/apply:os.system', '_$$nd_func$$_function'], misses: ['python object', '!!important'],
      name: words('Pickle or YAML object', 'Pickle 或 YAML 物件', 'Pickle 或 YAML 对象'), description: words('Python, Ruby or Node objects that run code.', '會執行程式碼的 Python、Ruby 或 Node 物件。', '会执行代码的 Python、Ruby 或 Node 对象。') },
    { id: 'deserialization-xstream', severity: 'critical', paranoia: 1, targets: ['document', 'raw'], references: ['CVE-2021-39144'],
      pattern: String.raw`<(?:java\.util\.priorityqueue|sorted-set|dynamic-proxy|jdk\.nashorn|java\.beans\.eventhandler|object-factory)\b|<object\s+class\s*=\s*["']java\.lang\.processbuilder`, hits: ['<java.util.PriorityQueue serialization="custom">', '<dynamic-proxy>'], misses: ['<queue/>', 'sorted'],
      name: words('XML objects of Java', 'Java 的 XML 物件', 'Java 的 XML 对象'), description: words('Elements that XStream or XMLDecoder run.', 'XStream 或 XMLDecoder 會執行的元素。', 'XStream 或 XMLDecoder 会执行的元素。') },
    { id: 'deserialization-jackson', severity: 'critical', paranoia: 1, targets: inputs, references: ['CVE-2017-7525', 'CVE-2019-12384'],
      pattern: String.raw`\[\s*"(?:com\.|org\.|ch\.|java\.|javax\.)[\w.$]{5,120}"\s*,\s*\{`, hits: ['["ch.qos.logback.core.db.drivermanager",{"url":"x"}]'], misses: ['["com.example", 1]', '["a",{}]'],
      name: words('Typed list of Jackson', 'Jackson 型別清單', 'Jackson 类型列表'), description: words('A class name and its properties.', '類別名稱及其屬性。', '类名及其属性。') },
  ],
};
