/** A form of answers that a rule can ask for or forbid, and its words in all languages. */
export type Topic = {
  slot: string
  /** The value if it is asked for; without one, it can only be forbidden. */
  some?: string
  /** The value if it is forbidden; without one, it can only be asked for. */
  none?: string
  /** True if to name it is to ask for it: "code only". */
  isRequest?: true
  words: string
}

/** Forms of answers; a new wording is a word in a line, a new form a line and its check. */
export const topics: readonly Topic[] = [
  {
    slot: 'emoji',
    some: 'some',
    none: 'none',
    words:
      'emojis?|emoticons?|emotes?|smileys?|smil(?:ey|ing) faces|(?:little |tiny |yellow )+faces|émojis?|émoticônes?|emoticonos?|表情(?:符号|包|图标)?|颜文字|絵文字|顔文字',
  },
  {
    slot: 'bullets',
    some: 'numbered',
    none: 'not_numbered',
    words:
      'number(?:ed|ing)?[ -](?:lists?|steps?|points?|items?|bullets?|bullet points|form)|(?:numbered|number) (?:each|every|the|your|all)(?: \\p{L}+)?|number your (?:steps|points|items)|(?:steps|points|items|answers|lists) (?:are|come|must be|should be|get) (?:always |all )?numbered|1[.)]? ?,? ?2[.)]? ?,? ?3(?:[.)]|(?= ))|enumerated lists?|enumerations? with numbers|numbered(?= from| format| from| style|,|\\.|$)|nummerierte[nrs]? listen?|listas? numeradas?|listes? numérotées?|(?:编号|有序|数字)(?:的)?列表|番号付き(?:の)?(?:リスト|箇条書き|一覧)',
  },
  {
    slot: 'bullets',
    some: 'bullets',
    none: 'none',
    words:
      'bullet(?:ed|s|-?y|ing)?(?:[ -](?:points?|lists?|items?|form(?:at)?|style|stuff))?|bullets|bulletpoints|(?:itemi[sz]ed|unordered) lists?|itemi[sz](?:e|ing|ation)|dash lists?|list form(?:at)?|stichpunkte?n?|stichwortliste|aufzählung(?:en|s(?:zeichen|punkten?|listen?))?|gliederungspunkten?|spiegelstrichen?|viñetas?|listas? con (?:viñetas|guiones)|puces?|listes? à puces|(?:项目符号|无序列表|要点列表|分点)|箇条書き',
  },
  {
    slot: 'bullets',
    none: 'none',
    words: 'lists?|listicles?|listen|listas?|listes?|列表|清单|リスト',
  },
  { slot: 'bullets', some: 'bullets', words: '(?<=as an? |in an? )list' },
  {
    slot: 'heading',
    some: 'some',
    none: 'none',
    words:
      '(?:markdown |section |sub)?-?head(?:ing|er|line)s?|(?:sub|section )-?titles?|titles? (?:on top|at the top|above)|(?:zwischen)?überschriften?|encabezados?|(?:sub)?títulos?|(?:sous-)?titres?|(?:小)?标题|見出し(?:記号)?',
  },
  {
    slot: 'bold',
    some: 'some',
    none: 'none',
    words:
      'bold(?:ed|ing|face|[ -](?:text|type|face|font|print|words?|formatting|emphasis|letters?))?|fettdruck|fett(?:schrift|ung|ungen|gedruckt\\p{L}*)?|fette[nrs]? \\p{L}+|negritas?|gras|粗体|加粗|黑体|太字',
  },
  {
    slot: 'italics',
    some: 'some',
    none: 'none',
    words: 'italics?|kursiv\\p{L}*|cursivas?|italique|斜体',
  },
  {
    slot: 'shape',
    none: 'plain',
    words:
      'mark ?down(?: formatting| syntax| markup| symbols?| characters| signs)?|markup|(?:rich |text )?formatting|formatierung(?:en)?|formato markdown|mise en forme|マークダウン',
  },
  {
    slot: 'shape',
    some: 'plain',
    words:
      '(?:plain|raw|unformatted|pure|flowing|running)[ -](?:text|prose|paragraphs)|plain ?text|(?:reinen?|nur|einfachen?) (?:text|fließtext)|fließtext|texto (?:plano|sin formato)|texte brut|纯文本|プレーンテキスト',
  },
  {
    slot: 'links',
    some: 'some',
    none: 'none',
    words:
      '(?:hyper|web)?-?links?|linking to (?:web ?sites|pages)|urls?|(?:web|internet) (?:addresses|address|links?)|references to (?:web ?sites|web pages)|(?:verweise|links?) auf (?:web|internet)seiten|internetadressen|webadressen|(?:hiper)?enlaces?|(?:hyper)?liens?|链接|超链接|网址|リンク',
  },
  {
    slot: 'code',
    some: 'some',
    none: 'none',
    words:
      '(?:source |program |fenced |inline )?code(?:[ -](?:blocks?|fences?|snippets?|formatting|samples?|examples?|listings?))?|backticks?|(?:quell)?code(?:blöcken?|block|beispiele?n?)|quellcode|código|bloques de código|(?:blocs de )?code|代码(?:块)?|コード(?:ブロック)?',
  },
  {
    slot: 'code',
    some: 'only',
    isRequest: true,
    words:
      '(?<=only |just |nothing but |nothing except |nothing other than |pure |solely |purely )(?:the |a |in |with )?(?:raw |bare )?(?:\\p{L}+ )?code(?: blocks?)?(?! (?:reviews?|changes?|freezes?|base|quality|of conduct|words?))|code(?= only| and nothing else| alone)|(?:just|only) (?:the )?(?:code|command|query|sql|regex|script)|code-only|(?:one |a |single |in )*(?:fenced |raw )?code ?(?:block|box)s?(?:,? (?:and |with )?nothing (?:else|around|besides|more|before|after)[^.;]{0,12}| only| alone)|(?:(?:whole|entire|complete) (?:message|reply|answer|response|output)|reply|answer|output|response) (?:is|are|must be|consists? of|must consist of) (?:a |an |one |single |just )*(?:fenced )?code(?: ?(?:block|box))?|code and nothing (?:else|besides|but code)|solo (?:el )?código|nur (?:den )?code|(?:只|仅)(?:给|要|返回|输出)?代码|コードだけ',
  },
  {
    slot: 'table',
    some: 'table',
    none: 'none',
    words:
      '(?:markdown |html )?tables?|tabular (?:form(?:at)?|layouts?)|tabulations?|tabellen?|tabellarisch\\p{L}*|tablas?|tableaux?|表格|表(?:形式|(?=[はをもや、]))|テーブル',
  },
  {
    slot: 'shape',
    some: 'json',
    words: 'json(?: (?:objects?|arrays?|format|only))?',
  },
  {
    slot: 'shape',
    some: 'csv',
    words: 'csv(?: rows?| lines?| format| output)?|comma[- ]separated(?: values| lines| list)?',
  },
  {
    slot: 'shape',
    some: 'yes_no',
    words:
      '(?:a |only |just |simply )*⟦\\d+⟧ or ⟦\\d+⟧(?= only|\\.|$)|yes or no|yes\\/no|ja oder nein|sí o no|oui ou non',
  },
  {
    slot: 'quotes',
    none: 'none',
    words:
      '(?:quotation|quote|speech|citation) marks?|(?:in|inside|within) quot(?:es|ation marks?)|(?:double |single )?quotes|inverted commas|anführungs(?:zeichen|striche)|comillas|guillemets|引号|引用符|かぎかっこ',
  },
  {
    slot: 'question',
    some: 'asked',
    none: 'none',
    words:
      '(?:answer|reply to|respond to|meet) (?:a |my |any )?questions? with (?:a |another )?questions?|ask questions|ask(?:ing)? (?:(?:me|us|them|the user|users|people) )?(?:things|stuff|something|anything)(?: back)?|ask back|ask(?=\\s*(?:[.,;!]|$))|(?:follow[- ]?up |counter[- ]?|closing |rhetorical )?questions?|asked (?:anything|questions)|asking (?:me )?something|interrogatives?|(?:gegen|rück)fragen?|asking(?: me)?(?: any)?(?: \\p{L}+)? questions?|ask(?:ing)?(?: me)? anything(?: back)?|rückfragen?|fragen?|(?:re)?preguntas?|questions?|问题|反问|提问|質問',
  },
  {
    slot: 'digits',
    none: 'none',
    words:
      'digits?|(?:arabic )?numerals?|(?:numbers? )?in figures|figures|ziffern?|cifras|dígitos|chiffres|阿拉伯数字|数字',
  },
  {
    slot: 'digits',
    some: 'none',
    isRequest: true,
    words:
      '(?:numbers?|figures|amounts|quantities|numerals)(?: \\p{L}+){0,3}? (?:spelled|spelt|written)[ -]?(?:out|as words|in words|in full|in letters)|(?:spell|write) (?:out )?(?:(?:all|the|your|any|every) )*(?:numbers?|figures|amounts|digits) (?:out|as words|in words|in full|in letters)|(?:spell|write) out (?:(?:all|the|your|any|every) )*(?:numbers?|figures|amounts)|spelling (?:numbers|them) out|numbers? (?:as|in) (?:words|letters)|zahlen(?: \\p{L}+)? (?:aus(?:schreiben|geschrieben)?|in worten|als wörter)|(?:les |tous les )?(?:nombres|chiffres) en (?:toutes )?lettres|(?:los )?números (?:en (?:letras|palabras)|con (?:letras|palabras))|数字用(?:汉字|中文)|(?:数字|数)は漢数字',
  },
  {
    slot: 'numbers',
    none: 'none',
    words:
      '(?<!(?:phone|order|ticket|account|tracking|page|version|serial|card|contact|model|line|invoice|booking|reference|house) )numbers?(?! (?:word|of|the steps|each))|zahlen|números|nombres',
  },
  {
    slot: 'case',
    some: 'lower',
    words:
      '(?:all )?(?:in )?lower[ -]?case(?: letters| only)?|small letters|lower-cased?|no caps|kleinbuchstaben|alles klein|klein schreiben|klein ?geschrieben|kleinschreibung|minúsculas?|minuscules?|小写|小文字',
  },
  {
    slot: 'case',
    some: 'upper',
    none: 'lower',
    words:
      '(?:all )?(?:in )?upper[ -]?case(?: letters| only)?|(?:all |full |block )?(?:caps|capitals|(?:capital|big) letters)|block letters|(?:every|each) letter (?:\\p{L}+ ){0,3}capital|capitali[sz](?:ation|ed letters)|großbuchstaben|alles groß|großgeschrieben|mayúsculas?|majuscules?|大写(?:字母)?|大文字',
  },
  {
    slot: 'case',
    some: 'title',
    words:
      'title[ -]?case|capitali[sz]e (?:the first letter of )?(?:each|every) word|(?:each|every) word (?:\\p{L}+ ){0,2}capitali[sz]ed|(?:each|every) word (?:\\p{L}+ ){0,3}(?:with )?(?:a )?capital letter',
  },
  { slot: 'case', none: 'lower', words: 'capitali[sz](?:e|ing)(?! each| every| the first)' },
  { slot: 'contractions', none: 'none', words: 'contractions?|contracted forms?' },
  { slot: 'dates', some: 'iso', words: 'dates? .{0,40}(?:iso(?: ?8601)?|yyyy-mm-dd)' },
  { slot: 'units', some: 'metric', words: 'metric(?: units| system)?' },
]

/** Punctuation marks and other signs by name; each is forbidden or required alone. */
export const signs: readonly (readonly [marks: string, words: string])[] = [
  [
    '!',
    "exclamation (?:marks?|points?|signs?)|exclamations?|bangs|ausrufe(?:zeichens?|z\\.)|rufzeichen|(?:signos?|puntos?) de (?:exclamación|admiración)|exclamaciones|points? d'exclamation|感叹号|惊叹号|感嘆符|びっくりマーク",
  ],
  [
    '?',
    "question marks?|fragezeichen|signos? de interrogación|points? d'interrogation|问号|疑問符",
  ],
  [',', 'commas?|kommas?|comas?|virgules?|逗号|読点'],
  [';', 'semi-?colons?|semikola|semikolons?|strichpunkte?|punto y coma|points?-virgules?|分号'],
  [':', '(?<!semi-?)colons?(?! \\()|doppelpunkte?|dos puntos|deux-points|冒号'],
  [
    '—–',
    '(?:em|en|long)[ -]?dash(?:es)?|dashes|dash(?= of| as|\\W|$)|gedankenstriche?|guiones? largos?|rayas|tirets?(?: cadratins?| longs?)?|破折号|ダッシュ',
  ],
  ['-', "hyphens?|bindestriche?|guiones|traits? d'union|连字符"],
  [
    '()',
    '(?:round )?(?:parenthes[ei]s|brackets)(?: of that kind)?|parentheticals?|klammern|paréntesis|parenthèses|括号|括弧|かっこ',
  ],
  ['[]', 'square brackets|eckige\\p{L} klammern|corchetes|crochets|方括号'],
  [
    '…',
    'ellips[ei]s|ellipses|dots in a row|auslassungspunkte|puntos suspensivos|points de suspension|省略号',
  ],
  ['*', 'asterisks?|(?:raw )?stars|sternchen|asteriscos?|astérisques?|星号'],
  ['#', 'hash ?tags?|hash (?:signs?|marks?)|rautezeichen|井号|ハッシュタグ'],
  ['&', 'ampersands?'],
  ['/', '(?:forward )?slash(?:es)?|schrägstriche?|barras'],
  [
    '$€£¥',
    'currency (?:signs?|symbols?)|währungs(?:zeichen|symbole)|símbolos? de moneda|symboles? monétaires?',
  ],
  ['$', 'dollar signs?'],
  ['%', 'percent(?:age)? signs?|prozentzeichen'],
  ['~', 'tildes?'],
  ['.', '(?:full stops?|periods)'],
  [
    '.,;:!?—–()',
    'punctuation(?: marks?| signs?)?|satzzeichen|signos de puntuación|ponctuation|标点(?:符号)?|句読点',
  ],
]
