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

const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const ones = 'one two three four five six seven eight nine'.split(' ')

const valueOfWord = new Map(
  spelled.flatMap(([value, words]) => words.split('|').map((word) => [word, value] as const)),
)

/** Source of a regular expression for a number in digits or words. */
export const numberSource = `(?:\\d{1,3}(?:[.,]\\d{3})+|\\d{1,3}k|[\\d０-９]{1,6}|(?:${tens.join('|')})-(?:${ones.join('|')})|${spelled
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
  const [ten = '', unit = ''] = low.split('-')
  if (tens.includes(ten) && ones.includes(unit))
    return (tens.indexOf(ten) + 2) * 10 + ones.indexOf(unit) + 1
  const word = valueOfWord.get(low)
  if (word !== undefined) return word
  if (/^(?:eine?[mnrs]?|une?|una|uno|an?)$/.test(low)) return 1
  return /^(?:doscient|trescient)/.test(low) ? (low.startsWith('dos') ? 200 : 300) : undefined
}

/** Bounds before a number: the last that matches the words before it counts. */
const before: readonly (readonly [
  bound: 'max' | 'min' | 'below' | 'above' | 'exact' | 'about',
  words: string,
])[] = [
  [
    'max',
    '<=|≤|=<|cuts? off (?:after|at)|cut (?:off )?(?:after|at)|truncated (?:after|at)|at (?:or (?:below|under|less than)|(?:the )?(?:very )?most|the (?:very )?outside)|(?:below|under|less than|shorter than|fewer than|lower than|smaller than) or equal to|at (?:a|the) maximum|not one more than|(?:never|not|no)(?: \\p{L}+){0,4} tops?|truncat\\p{L}+ (?:after|at)|(?:not|never|no) (?:\\p{L}+ )?more than|max(?:imum|imal|imally)?\\.?(?: (?:of|length|is|for (?:a|each|every|any) \\p{L}+))*(?:[:=]| of)?|up to|upto|within|inside(?: of)?|(?:limit|cap|ceiling|budget|quota|allowance|upper bound)(?:p?ed|s)?(?: \\p{L}+){0,4}(?: (?:to|at|of|is|=)|:)?|restrict(?:ed)?(?: \\p{L}+){0,4} to|confin(?:e|ed|ing)(?: \\p{L}+){0,4} (?:to|within)|(?:keep|cut|trim|boil|shorten|hold|whittle|squeeze)(?: \\p{L}+){0,5}?(?: down)? (?:to|into)|stop (?:after|at)|(?:fits?|fitting|squeeze\\p{L}*|run)(?: \\p{L}+){0,2} (?:in|into|within)(?: (?:an?|the|one) [\\p{L} ]{2,20}(?: of|:|,|\\())?|(?:stay|keep)(?: \\p{L}+){0,4} (?:within|at)|(?:only|just) (?:has |have |had )?(?:room|space) for|(?:only |just )?(?:holds?|shows?|takes?|displays?|accepts?|allows?|fits?|prints?|reads?)(?: you)?(?: me)?(?: only| just)?|(?:cuts?|drops?|los(?:es?|t)|ends?|breaks?)(?: \\p{L}+){0,4} after|stop\\p{L}* (?:reading|listening) (?:after|at)|(?:may|can) (?:run|go|be|have|use|take|stretch)(?: up)?(?: to)?|you(?:.ve| have| only|.ll)? (?:get|got|have|are given|are allowed)(?: only| just)?|(?:los(?:e|es|t|ing)|zone out|drift off|switch off|give up)(?: \\p{L}+){0,3} (?:after|at|past|beyond)(?: about| around| roughly)?|attention span (?:is|ends at|stops at)(?: about| around)?|(?:as short as|like) [\\p{L} ]{3,20}[,:] ?',
  ],
  [
    'max',
    "höchstens|maximal|keine? (?:\\p{L}+ )?(?:mehr|länger) als|bis zu|como (?:máximo|mucho)|máximo(?: de)?|(?:un )?máx\\.?(?: de)?|a lo sumo|no (?:más|mas) de|nunca más de|hasta|au (?:plus|maximum)|maximum(?: de)?|tout au plus|pas plus d(?:e |')|jamais plus d(?:e |')|max(?: de)?|(?:limit|begrenz|beschränk)\\p{L}*(?:[ -]\\p{L}+){0,4} (?:auf|à|a)|(?:tien(?:t|dra|ne|nent)|tenir|caber?|quep\\p{L}+|passt?|passen) (?:en|dans|in)",
  ],
  [
    'max',
    '(?:不|别|勿)(?:要|得|能|可|可以)?(?:超过|多于|超出|长于)|最多(?:只能|用|写)?|至多|控制在|限制在|限(?:于|定)?|上限(?:为|是)?|不多于|最大(?:で)?|多くても|最長(?:で)?|最多',
  ],
  [
    'below',
    "under|below|beneath|short of|fewer than|less than|shorter than|unter|weniger als|kürzer als|menos de|por debajo de|moins d(?:e |')|en dessous de|少于|小于|低于",
  ],
  [
    'above',
    "more than|over|above|beyond|past|longer than|greater than|larger than|bigger than|exceed(?:s|eth|ed|ing)?|pass(?:es|ing)?|surpass(?:es|ing)?|au-delà d(?:e |')|más allá de|jenseits von|mehr als|länger als|über|hinaus über|überschreit\\p{L}*|übersteig\\p{L}*|más (?:de|largas? que)|super(?:ar|es?|en|a|an)(?: l[oa]s)?|exced\\p{L}+(?: (?:de )?(?:l[oa]s)?)?|pas(?:ar|es?|en|an?) de(?: l[oa]s)?|rebas\\p{L}+(?: l[oa]s)?|plus d(?:e |')|dépass\\p{L}+(?: (?:pas|jamais|plus))?(?: les)?|excéd\\p{L}+(?: (?:pas|jamais|plus))?(?: les)?|多于|超过",
  ],
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

const limitNoun =
  '(?:(?:absolute |house |hard |upper |outer |strict |very )*(?:ceiling|limit|max(?:imum)?|cap|most|bound|upper|top|end of it|border|heaven|roof))'
const after: readonly (readonly [bound: 'max' | 'min' | 'exact' | 'about', words: string])[] = [
  [
    'max',
    `(?:(?:is|are) (?:as (?:much|many|long|far) as|the most|about (?:as much|all))|like (?:an?|the) (?:\\p{L}+ )?(?:tweet|text|sms|telegram|postcard|headline)|and (?:then )?(?:it|you|they|i|we)(?:.ve|.re|.m| have| are)? (?:run out|lost|gone|done|out|stops?|scrolls?|dead)|\\(?(?:at (?:the (?:very )?)?)?(?:most|max(?:imum|imal)?|outside)\\b|tops\\b|(?:is|are|'s) (?:plenty|enough|all (?:that )?(?:i|you|we|the|my|our|it|there)(?: can| have| get| need| is)?|where (?:i|we|it|you|the|my) (?:stops?|gets? off|cuts?|ends?|draw|give up|lose|zone out|quit))|or (?:less|fewer|under|below|shorter)|(?:and )?not (?:one|an?|even one|a single) (?:\\p{L}+ )?more|(?:(?:must|should|have to|has to|will|shall|can|ought to) )?(?:suffices?|be (?:enough|plenty)|do(?=\\s*[.,;!]|$))|(?:and )?then (?:stop|you stop|end|full stop)|(?:full stop|period)(?=\\s*[.,;!]|$)|and (?:you|we|i)(?:.re| are|.m) (?:done|out)|flat(?=\\s*[.,;!]|$)|not more|(?:is|as|are|being|=|'s)(?: (?:the|my|your|our|a|an))? ${limitNoun}(?!\\p{L})|(?:,|:|and|but)? ?(?:that'?s|that is|thats|this is|it'?s) (?:it|all|the|my|your|our|a)\\b|(?:hard |upper |strict )?(?:limit|cap|ceiling|max)\\b|no[ ]more|and no[ ]more|never more|(?:is|are) (?:permitted|allowed|tolerated))`,
  ],
  [
    'max',
    "(?:(?:ist|sind|gilt als|bleibt) (?:die|das|mein|meine|eure) (?:absolute )?(?:obergrenze|grenze|limit|maximum|höchste)|(?:c'est|sont|est)(?: là)? (?:le|la|mon|ma|un) (?:plafond|maximum|limite|max)|(?:es|son|será) (?:el|mi|la|un) (?:límite|máximo|tope)|höchstens|maximal|oder weniger|nicht mehr|como (?:máximo|mucho)|a lo sumo|(?:de )?máximo|máx|o menos|no más|y no más|au (?:plus|maximum)|tout au plus|maximum|max|ou moins|pas plus|grand maximum|erschöpft|beschränkt|pas davantage|pas une? de plus|ni un[ao]? más|keinen? (?:\\p{L}+ )?mehr)(?!\\p{L})",
  ],
  [
    'max',
    '(?:字|句|行)?(?:以内|以下|之内|内|为限|封顶|まで|が上限)|を(?:超え|越え|超過)(?:な|ず|て(?:は|い))',
  ],
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
const spaces =
  '(?:(?:with |including |counting |incl\\\\.? )?spaces?(?: included| counted)?|espaces compris|inklusive leerzeichen|(?:con |incluidos los )espacios)'
const afterPatterns = after.map(
  ([bound, words]) =>
    [
      bound,
      new RegExp(`^[\\s,(]*(?:${perAnswer}[\\s,(]+)?(?:${spaces}[\\s,)]+)?${words}`, 'iu'),
    ] as const,
)

function isLatin(words: string): boolean {
  return !/[\p{Script=Han}\p{Script=Hiragana}]/u.test(words)
}

/** "Answers longer than 40 words …": what is beyond the bound is a subject that only an exclusion can follow. */
const tooLong =
  /(?<!\p{L})(?:answers|replies|responses|messages|texts|outputs?|(?:an?|any|every|each|no|the|your) (?:\p{L}+ )?(?:answer|reply|response|text|message|output)|anything|everything|whatever|all|what) (?:(?:that|which|it) )?(?:(?:is|are|comes?|goes?|with|of|has|have|runs?) )?$/iu
const noMoreNoLess =
  /^(?: (?:in|per|each|every)(?: p{L}+){0,3})?[\s,(]*(?:no|not|never|neither) (?:more|less|fewer)(?:,| and| or| nor)* (?:no|not|never)? ?(?:less|fewer|more)/i
const negation =
  "\\p{L}+n't|not|no|nobody|nothing|none|never|without|nor|neither|cannot|hardly|avoid|refrain|stop|forbid\\p{L}*|prohibit\\p{L}*|nicht|nie|niemals|kein\\p{L}*|ohne|weder|nunca|jamás|sin|evit\\p{L}*|ningun[ao]?|ne|n'\\p{L}+|pas|jamais|sans|aucun\\p{L}*"
const negatedBefore = new RegExp(
  `(?<![\\p{L}])(?:${negation})(?: (?!and\\b|y\\b|und\\b|et\\b|but\\b|or\\b)[\\p{L}'-]+){0,7}\\s*$`,
  'iu',
)
/** "… in no case", "… are not accepted", "… gets cut", "… lese ich nicht". */
const excludedAfter = new RegExp(
  `^[^,.;:!?]{0,40}?(?<![\\p{L}])(?:${negation}|won't|too (?:much|long|many)|(?:is|are|be|gets?|goes?) (?:cut|lost|dropped|discarded|ignored|truncated|rejected|refused|wasted|deleted|cropped|clipped|skipped|unread)|lost|wasted|verboten|unzulässig|interdit\\p{L}*|prohibid\\p{L}*|forbidden|banned)(?!\\p{L})`,
  'iu',
)

/** "Replies shorter than 100 words are not acceptable." */
const tooShort =
  /^[^,.;:!?]{0,20}(?<!\p{L})(?:(?:is|are) (?:not|never|un|rejected|refused|too (?:short|few|little))|(?:isn't|aren't)|too (?:short|few))/iu

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
  if (pattern === undefined || (bound !== 'above' && bound !== 'below'))
    return bound ?? said ?? 'bare'
  const words = near.slice(0, near.search(pattern))
  if (bound === 'below') return negatedBefore.test(words) || tooShort.test(right) ? 'min' : bound
  return negatedBefore.test(words) || excludedAfter.test(right) || tooLong.test(words)
    ? 'max'
    : bound
}

const ordinals: Readonly<Record<string, number>> = {
  second: 2,
  third: 3,
  fourth: 4,
  fifth: 5,
  sixth: 6,
  seventh: 7,
  eighth: 8,
}

/** Source of a regular expression for an ordinal of 2 to 8. */
export const ordinalSource = Object.keys(ordinals).join('|')

/** Returns the most that an ordinal leaves: "never a fourth" and "stop after the third" leave three. */
export function mostOfOrdinal(word: string, left: string, right: string): number | undefined {
  const count = ordinals[word.toLowerCase()]
  if (count === undefined) return undefined
  if (
    /(?<!\p{L})(?:after|with) the\s*$/iu.test(left) ||
    /^,? (?:is|as) (?:always |also )?(?:the|your) last/i.test(right)
  )
    return count
  return negatedBefore.test(left) || /^ (?:is|are) (?:never|not|one too many)/i.test(right)
    ? count - 1
    : undefined
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
