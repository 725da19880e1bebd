/** A form of answers that a rule can ask for or forbid, and its words in all languages. */
export type Topic = {
  slot: string
  /** The value if it is asked for; without one, it can only be forbidden. */
  some?: string
  /** The value if it is forbidden; without one, it can only be asked for. */
  none?: string
  words: string
}

/** Forms of answers; a new wording is a word in a line, a new form a line and its check. */
export const topics: readonly Topic[] = [
  {
    slot: 'emoji',
    some: 'some',
    none: 'none',
    words:
      'emojis?|emoticons?|smileys?|émojis?|émoticônes?|emoticonos?|表情(?:符号)?|絵文字|顔文字',
  },
  {
    slot: 'bullets',
    some: 'numbered',
    none: 'not_numbered',
    words:
      'number(?:ed|ing)?[ -](?:lists?|steps?|points?|items?|bullets?|bullet points)|numbered(?= from| format| from| style|,|\\.|$)|nummerierte[nrs]? listen?|listas? numeradas?|listes? numérotées?|(?:编号|有序|数字)(?:的)?列表|番号付き(?:の)?(?:リスト|箇条書き)',
  },
  {
    slot: 'bullets',
    some: 'bullets',
    none: 'none',
    words:
      'bullet(?:ed)?(?:[ -](?:points?|lists?|items?|form(?:at)?))?|bullets|bulletpoints|dash lists?|list form(?:at)?|stichpunkte?n?|stichwortliste|aufzählung(?:en|szeichen|spunkte)?|viñetas|puces|(?:项目符号|无序列表|要点列表)|箇条書き',
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
      '(?:markdown |section |sub)?-?head(?:ing|er|line)s?|sub-?titles?|überschriften?|encabezados?|títulos?|titres?|标题|見出し',
  },
  {
    slot: 'bold',
    some: 'some',
    none: 'none',
    words:
      'bold(?:ed|ing|face|[ -](?:text|type|face|font|print|words?))?|fettdruck|fett(?:schrift|gedruckt\\p{L}*)?|fette[nrs]? \\p{L}+|negritas?|gras|粗体|加粗|黑体|太字',
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
      'mark ?down(?: formatting| syntax| markup)?|(?:rich |text )?formatting|formatierung(?:en)?|formato markdown|mise en forme|マークダウン',
  },
  {
    slot: 'shape',
    some: 'plain',
    words:
      '(?:plain|raw|unformatted|pure)[ -](?:text|prose|paragraphs)|plaintext|(?:reinen?|nur|einfachen?) (?:text|fließtext)|fließtext|texto (?:plano|sin formato)|texte brut|纯文本|プレーンテキスト',
  },
  {
    slot: 'links',
    some: 'some',
    none: 'none',
    words:
      '(?:hyper|web)?-?links?|urls?|web (?:addresses|links)|enlaces?|liens?|links|链接|网址|リンク',
  },
  {
    slot: 'code',
    some: 'some',
    none: 'none',
    words:
      'code(?:[ -](?:blocks?|fences?|snippets?|formatting|samples?|examples?))?|backticks?|codeblöcke?|código|bloques de código|(?:blocs de )?code|代码(?:块)?|コード(?:ブロック)?',
  },
  {
    slot: 'code',
    some: 'only',
    words:
      '(?<=only |just |nothing but |nothing except |nothing other than |pure |solely |purely )(?:the |a |in |with )?(?:raw |bare )?(?:\\p{L}+ )?code(?: blocks?)?|code(?= only| and nothing else| alone)|(?:just|only) (?:the )?(?:code|command|query)|code-only|solo (?:el )?código|nur (?:den )?code|(?:只|仅)(?:给|要|返回|输出)?代码|コードだけ',
  },
  {
    slot: 'table',
    some: 'table',
    none: 'none',
    words:
      '(?:markdown |html )?tables?|tabular form(?:at)?|tabellen?|tablas?|tableaux?|表格|表(?:形式)|テーブル',
  },
  {
    slot: 'shape',
    some: 'json',
    words: 'json(?: (?:objects?|arrays?|format|only))?',
  },
  {
    slot: 'shape',
    some: 'csv',
    words: 'csv|comma[- ]separated(?: values| lines| list)?',
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
      '(?:quotation|quote|speech) marks?|(?:double |single )?quotes|inverted commas|anführungs(?:zeichen|striche)|comillas|guillemets|引号|引用符|かぎかっこ',
  },
  {
    slot: 'question',
    some: 'asked',
    none: 'none',
    words:
      '(?:follow[- ]?up |counter[- ]?|closing |rhetorical )?questions?|asking(?: me)?(?: any)?(?: \\p{L}+)? questions?|ask(?:ing)?(?: me)? anything(?: back)?|rückfragen?|fragen?|(?:re)?preguntas?|questions?|问题|反问|提问|質問',
  },
  {
    slot: 'digits',
    none: 'none',
    words: 'digits?|numerals?|figures|ziffern?|cifras|dígitos|chiffres|阿拉伯数字|数字',
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
      '(?:all )?(?:in )?lower[ -]?case(?: letters| only)?|small letters|no caps|kleinbuchstaben|alles klein|klein ?geschrieben|kleinschreibung|minúsculas?|minuscules?|小写|小文字',
  },
  {
    slot: 'case',
    some: 'upper',
    none: 'lower',
    words:
      '(?:all )?(?:in )?upper[ -]?case(?: letters| only)?|(?:all |full |block )?(?:caps|capitals|capital letters)|capitali[sz](?:ation|ed letters)|großbuchstaben|alles groß|großgeschrieben|mayúsculas?|majuscules?|大写(?:字母)?|大文字',
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
    "exclamation (?:marks?|points?)|exclamations|bangs|ausrufe(?:zeichen|z\\.)|(?:signos?|puntos?) de (?:exclamación|admiración)|exclamaciones|points? d'exclamation|感叹号|惊叹号|感嘆符|びっくりマーク",
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
