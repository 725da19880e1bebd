/** A count that a rule allows. */
export type Range = { min?: number; max?: number }

/** Spelled numbers by value; each line can have words of several languages. */
const spelled: readonly (readonly [value: number, words: string])[] = [
  [1, 'a single|just one|one|an?|eine[mnrs]?|ein|un[ae]?|uno|一|ひと|1つ'],
  [2, 'two|a couple of|zwei|dos|deux|二|两|ふた'],
  [3, 'three|drei|tres|trois|三'],
  [4, 'four|vier|cuatro|quatre|四'],
  [5, 'five|fünf|cinco|cinq|五'],
  [6, 'six|sechs|seis|六'],
  [7, 'seven|sieben|siete|sept|七'],
  [8, 'eight|acht|ocho|huit|八'],
  [9, 'nine|neun|nueve|neuf|九'],
  [10, 'ten|zehn|diez|dix|十'],
  [11, 'eleven|elf|once|onze|十一'],
  [12, 'twelve|a dozen|zwölf|doce|douze|十二'],
  [13, 'thirteen|dreizehn|trece|treize'],
  [14, 'fourteen|vierzehn|catorce|quatorze'],
  [15, 'fifteen|fünfzehn|quince|quinze|十五'],
  [16, 'sixteen|sechzehn'],
  [18, 'eighteen|achtzehn'],
  [20, 'twenty|zwanzig|veinte|vingt|二十'],
  [25, 'twenty-five|fünfundzwanzig|veinticinco|vingt-cinq|二十五'],
  [30, 'thirty|dreißig|treinta|trente|三十'],
  [35, 'thirty-five'],
  [40, 'forty|vierzig|cuarenta|quarante|四十'],
  [50, 'fifty|fünfzig|cincuenta|cinquante|五十'],
  [60, 'sixty|sechzig|sesenta|soixante|六十'],
  [70, 'seventy|siebzig|setenta'],
  [80, 'eighty|achtzig|ochenta|quatre-vingts|八十'],
  [90, 'ninety|neunzig|noventa'],
  [100, 'a hundred|one hundred|hundred|hundert|cien|cent|一百|百'],
  [120, 'one hundred and twenty|a hundred and twenty'],
  [
    150,
    'one hundred and fifty|a hundred and fifty|hundertfünfzig|ciento cincuenta|cent cinquante|一百五十',
  ],
  [200, 'two hundred|zweihundert|doscient[oa]s|deux cents|两百|二百'],
  [300, 'three hundred|dreihundert|trescient[oa]s|trois cents|三百'],
]

const valueOfWord = new Map(
  spelled.flatMap(([value, words]) => words.split('|').map((word) => [word, value] as const)),
)

/** Source of a regular expression for a number in digits or words. */
export const numberSource = `(?:\\d{1,3}(?:[.,]\\d{3})+|\\d{1,3}k|[\\d０-９]{1,6}|${spelled
  .flatMap(([, words]) => words.split('|'))
  .sort((one, other) => other.length - one.length)
  .join('|')})`

/** Returns the value of a number in digits or words. */
export function numberOf(text: string): number | undefined {
  const low = text.toLowerCase().trim()
  const digits = low.replace(/[０-９]/g, (digit) => String(digit.charCodeAt(0) - 0xff10))
  const thousands = /^(\d+)k$/.exec(digits)?.[1]
  if (thousands !== undefined) return Number(thousands) * 1_000
  if (/^\d+(?:[.,]\d{3})*$/.test(digits)) return Number(digits.replace(/[.,]/g, ''))
  const word = valueOfWord.get(low)
  if (word !== undefined) return word
  if (/^(?:eine[mnrs]|une|una)$/.test(low)) return 1
  return /^(?:doscient|trescient)/.test(low) ? (low.startsWith('dos') ? 200 : 300) : undefined
}

/** Bounds before a number: the last that matches the words before it counts. */
const before: readonly (readonly [
  bound: 'max' | 'min' | 'below' | 'above' | 'exact' | 'about',
  words: string,
])[] = [
  [
    'max',
    "<=|≤|=<|cuts? off (?:after|at)|cut (?:off )?(?:after|at)|truncated (?:after|at)|at (?:the )?(?:very )?most|no(?:t|ne)? (?:\\p{L}+ )?(?:more|longer|greater|larger|bigger) than|never (?:\\p{L}+ )?(?:more|longer) than|(?:don't|do not|doesn't|mustn't|must not|may not|shouldn't|should not|cannot|can't|never|not)(?: \\p{L}+){0,3} (?:exceed|(?:go|run|be|get) (?:over|beyond|past|above|longer than)|surpass|pass|use more than|(?:write|say|give|send|use|contain|have) (?:me )?more than|exceeding)|max(?:imum|imal|imally)?\\.?(?: (?:of|length|is))*(?:[:=]| of)?|up to|within|(?:limit|cap|ceiling)(?:ed|s)?(?: \\p{L}+){0,4}(?: (?:to|at|of|is|=)|:)?|restrict(?:ed)?(?: \\p{L}+){0,4} to|confine(?: \\p{L}+){0,3} to|(?:keep|cut|trim|boil|shorten)(?: \\p{L}+){0,4}(?: down)? to|stop (?:after|at)|fits? (?:in|into|within)|(?:stay|keep)(?: \\p{L}+){0,4} (?:within|at)|not over|nothing over|nothing (?:longer|more) than|no answer over|anything (?:over|above)",
  ],
  [
    'max',
    "höchstens|maximal|(?:nicht|nie|niemals) (?:mehr|länger) als|keine? (?:\\p{L}+ )?(?:mehr|länger) als|bis zu|nicht über|como (?:máximo|mucho)|máximo(?: de)?|(?:un )?máx\\.?(?: de)?|no (?:más|mas) de|nunca más de|(?:no|sin|nunca)(?: \\p{L}+){0,3} (?:pasar de|pases de|pase de|pasen de|superar|superes|superen|exceder|excedas|excedan)|hasta|au (?:plus|maximum)|maximum(?: de)?|pas plus d(?:e |')|jamais plus d(?:e |')|(?:ne|sans)(?: \\p{L}+){0,3} (?:dépass\\p{L}+|excéd\\p{L}+)(?: (?:pas|jamais|plus))?(?: les)?|max(?: de)?|(?:limit|begrenz|beschränk)\\p{L}*(?: \\p{L}+){0,4} (?:auf|à|a)",
  ],
  [
    'max',
    '(?:不|别|勿)(?:要|得|能|可|可以)?(?:超过|多于|超出|长于)|最多(?:只能|用|写)?|至多|控制在|限制在|限(?:于|定)?|上限(?:为|是)?|不多于|最大(?:で)?|多くても|最長(?:で)?|最多',
  ],
  [
    'below',
    "under|below|fewer than|less than|shorter than|unter|weniger als|menos de|moins d(?:e |')|少于|小于|低于",
  ],
  ['above', "more than|over|longer than|mehr als|über|más de|plus d(?:e |')|多于|超过"],
  [
    'min',
    ">=|≥|at (?:the (?:very )?)?least|min(?:imum|imal|imally)?\\.?(?: of|:)?|no(?:t|thing)? (?:fewer|less|shorter) than|never (?:fewer|less|shorter) than|mindestens|wenigstens|nicht weniger als|(?:como|al|por lo) m(?:ínimo|enos)|mínimo(?: de)?|no menos de|au (?:moins|minimum)|minimum(?: de)?|pas moins d(?:e |')|至少|最少|不少于|不低于|少なくとも|最低(?:でも)?",
  ],
  [
    'exact',
    'exactly|precisely|just|only|strictly|genau|exakt|nur noch|nur|exactamente|solo|sólo|únicamente|justo|exactement|seulement|uniquement|précisément|正好|刚好|恰好|只能?用?|仅用?|ちょうど|きっかり',
  ],
  [
    'about',
    'about|around|roughly|approximately|approx\\.?|circa|ca\\.|some|close to|nearly|etwa|ungefähr|rund|unos|unas|alrededor de|aproximadamente|environ|à peu près|大约|大概|左右|約|およそ',
  ],
]

const after: readonly (readonly [bound: 'max' | 'min' | 'exact' | 'about', words: string])[] = [
  [
    'max',
    '(?:\\(?(?:at (?:the (?:very )?)?)?(?:most|max(?:imum|imal)?)\\b|tops\\b|(?:is|are) (?:plenty|enough|all (?:i|you) (?:need|get))|or (?:less|fewer|under|below|shorter)|and not (?:one|a \\p{L}+) more|(?:is|as|are|being) (?:the|my|your|a|an) (?:absolute )?(?:ceiling|limit|max(?:imum)?|cap|most|upper)|(?:limit|cap|ceiling|max)\\b|not more|no[ ]more|and no[ ]more|never more|höchstens|maximal|oder weniger|nicht mehr|como (?:máximo|mucho)|(?:de )?máximo|máx|o menos|no más|y no más|au (?:plus|maximum)|maximum|max|ou moins|pas plus|grand maximum)',
  ],
  ['max', '(?:字|句|行)?(?:以内|以下|之内|内|为限|封顶|まで|が上限)|を(?:超え|越え)(?:ない|ず)'],
  [
    'min',
    '(?:or (?:more|longer|above)|at (?:the )?least|min(?:imum)?\\b|and up|oder mehr|mindestens|o más|(?:como )?mínimo|ou plus|au (?:moins|minimum)|minimum)',
  ],
  ['min', '(?:字|句|行)?(?:以上|起)'],
  [
    'exact',
    '(?:exactly|precisely|never (?:more|less|fewer)|no[ ]more(?:,| and) no (?:less|fewer)|each|ちょうど)',
  ],
  ['about', '(?:左右|上下|程度|くらい|ぐらい|前後|or so)'],
]

const perAnswer =
  '(?:per|each|every|in|for|an?|por|par|pro)(?: (?:each|every|all|your|of))*(?: (?:single|given))? \\p{L}+'
const wordStart = '(?<![\\p{L}\\p{N}])'
const beforePatterns = before.map(
  ([bound, words]) =>
    [bound, new RegExp(`${isLatin(words) ? wordStart : ''}(?:${words})[\\s(:]*$`, 'iu')] as const,
)
const afterPatterns = after.map(
  ([bound, words]) =>
    [bound, new RegExp(`^[\\s,(]*(?:${perAnswer}[\\s,(]+)?${words}`, 'iu')] as const,
)

function isLatin(words: string): boolean {
  return !/[\p{Script=Han}\p{Script=Hiragana}]/u.test(words)
}

/** "Answers longer than 40 words get cut off." */
const tooLong =
  /(?:answers|replies|responses|messages|texts|(?:an|any|every|each|no|the|your) (?:answer|reply|response|text|message)|anything|everything) (?:(?:that|which) (?:is|are) |with |of )?(?:longer|more|over|above|beyond)(?: than)?[\s(]*$/i
const noMoreNoLess =
  /^[\s,(]*(?:no|not|never) (?:more|less|fewer)(?:,| and| or) (?:no|not|never)? ?(?:less|fewer|more)/i
const negated =
  /(?<![\p{L}])(?:no|not|never|without|nor|neither|don't|do not|mustn't|can't|avoid|nicht|nie|kein\p{L}*|no|nunca|sin|ne|pas|jamais|sans)(?: (?!and\b|y\b|und\b|et\b|but\b|or\b)\p{L}+){0,6}\s*$/iu

/** The bound around a number; `bare` without one. */
export type Bound = 'max' | 'min' | 'below' | 'above' | 'exact' | 'about' | 'bare'

/** Returns the bound that the words before and after a number give it. */
export function boundOf(left: string, right: string): Bound {
  const near = left.slice(-70)
  const said = afterPatterns.find(([, pattern]) => pattern.test(right))?.[0]
  const [bound, pattern] = beforePatterns.find(([, one]) => one.test(near)) ?? []
  if (said === 'max' || said === 'min') {
    // Both bounds are named: an exact number.
    return noMoreNoLess.test(right) ? 'exact' : said
  }
  const isNegated = pattern !== undefined && negated.test(near.slice(0, near.search(pattern)))
  if (bound === 'above' && (isNegated || tooLong.test(near))) return 'max'
  if (bound === 'below' && isNegated) return 'min'
  return bound ?? said ?? 'bare'
}

/** Returns the range of a number with its bound. */
export function rangeOf(bound: Bound, count: number): Range {
  switch (bound) {
    case 'max':
      return { max: count }
    case 'below':
      return { max: count - 1 }
    case 'min':
      return { min: count }
    case 'above':
      return { min: count + 1 }
    case 'about':
      return { min: Math.floor(count * 0.7), max: Math.ceil(count * 1.3) }
    default:
      return { min: count, max: count }
  }
}

/** Writes a range as the value of a statement: `..50`, `2..4`, `5..`. */
export function rangeText({ min, max }: Range): string {
  return `${min ?? ''}..${max ?? ''}`
}

/** Reads the value of a statement; a bare number is a maximum. */
export function readRange(text: string): Range {
  const [low = '', high] = text.split('..')
  if (high === undefined) return { max: Number(low) }
  return {
    ...(low !== '' && { min: Number(low) }),
    ...(high !== '' && { max: Number(high) }),
  }
}
