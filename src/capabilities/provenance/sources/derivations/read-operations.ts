import type { Value } from '../../values/index.ts'
import { openSentence } from '../lookup/open-sentence.ts'

/** An operation over seen values; `part` is a percentage of an amount, `share` one of two numbers. */
const operations = [
  'sum',
  'list',
  'difference',
  'product',
  'quotient',
  'mean',
  'part',
  'share',
  'ratio',
  'next_day',
  'date',
] as const
export type Operation = (typeof operations)[number]

/**
 * Words that name an operation, by language. `clear` ones say that something was calculated; others,
 * such as "cost", can be beside any amount.
 */
type Words = { clear: readonly string[]; other?: readonly string[] }
const words: Readonly<Record<Exclude<Operation, 'share'>, Words>> = {
  sum: {
    clear: [
      'total\\w*|subtotal|sums?|plus|comes? to|came to|makes|extra|on top|with (?:the |all )?(?:vat|tax|shipping|tip|fees?|interest)|altogether|together|combined|in all|overall|add(?:s|ed|ing)? up|grand|gross',
      'insgesamt|zusammen|gesamt\\w*|summe|ergibt|ensemble|somme|en tout|au total|suma|en total|juntos|totale|insieme|complessiv\\w+|somma',
      'totaal|samen|som|bij elkaar|tilsammen|sammen|i alt|sammanlagt|totalt|summa|razem|łącznie',
    ],
    other: [
      'both|plus|more|higher|longer|later|increas\\w*|r[io]se|rent|instead|mehr|höher|de plus|más|meer|includ\\w+|incl|add(?:s|ed|ing)?|comes? to|came to|mak(?:es?|ing)|due|owe[sd]?|pay\\w*|paid|bill(?:ed)?|cost(?:s|ing)?|charged?|invoice|now|as well as|on top|extra|with (?:the )?(?:vat|tax|shipping|tip|fees?|interest)|up to',
      'inklusive|inkl|macht|zuzüglich|zzgl|kosten|kostet|zahlen|compris|coûte\\w*|incluid\\w+|cuesta\\w*',
    ],
  },
  list: {
    clear: [],
    other: [
      'all|each|every|these|those|orders?|items?|entries|rows|the (?:two|three|four|five|six|seven|eight|nine|ten)|alle|alles|tous|toutes|todos|todas|tutti|tutte|there are|there were|es gibt|il y a|hay',
    ],
  },
  difference: {
    clear: [
      'differ\\w*|more|less|fewer|minus|than|sav(?:es?|ed|ings?)|increas\\w*|decreas\\w*|r[io]se|risen|fell|drop\\w*|gap|margin|remain\\w*|cheaper|dearer|older|younger|faster|slower|warmer|colder|surplus|shortfall|deficit|spread|grew|growth',
      'differenz|ersparnis|gestiegen|gesunken|übrig\\w*|verbleib\\w*|abzüglich|abzgl|günstiger|teurer|unterschied|différence|reste\\w*|hausse|baisse|écart',
      'diferencia|queda\\w*|resta\\w*|ahorr\\w*|differenza|rimane\\w*|risparmi\\w*|verschil|besparing|skillnad|forskel|różnica',
    ],
    other: [
      'more|less|fewer|left|rest|fall\\w*|up|down|higher|lower|longer|shorter|above|below|over|under|after|minus|discount\\w*|off|chang\\w*|ahead|behind|lead|balance|net|refund\\w*|back|short|shy|due|still|owe[sd]?|expensive|earlier|later|late|early|between|range|than|away|get|keep|receive\\w*|deduct\\w*|credit\\w*|gain\\w*|los[ste]\\w*|extra|reduc\\w*|out of|excluding|except|without|instead|improve\\w*|cut|available|open|unused|pending|free|takes?|last(?:s|ed)?|duration|long|delay\\w*',
      'mehr|weniger|spar\\w*|höher|niedriger|rabatt|erstatt\\w*|zurück|länger|kürzer|also|nach|offen|de plus|de moins|économi\\w*|rembours\\w*|más|menos|subi\\w*|baj\\w*|meer|minder|over|mindre|mer|kvar|mniej|więcej',
    ],
  },
  product: {
    clear: ['times|double|twice|triple|multipli\\w*|mal|fois|veces'],
    other: [
      'each|per|every|apiece|for (?:all|both|the|you|two|three|four|five|six|seven|eight|nine|ten|\\d+)|nights?|people|persons?|adults?|children|guests?|passengers?|travell?ers?|seats?|tickets?|units?|pieces?|items?|hours?|days?|weeks?|months?|years?|rooms?|boxes|quantity|total\\w*|together|altogether|in all|comes? to|makes?|costs?|you pay|fare',
      'je|pro|stück|nächte|personen|tage|stunden|monate|jahre|insgesamt|zusammen|gesamt\\w*|macht|zahlen|karten|erstatten',
      'par|chacun\\w*|pièce|nuits?|personnes?|jours?|mois|heures?|total|por|cada|noches?|personas?|días?|meses|horas?|ciascun\\w*|notti|persone|giorni|mesi|ore|totale|nachten|personen|dagen|maanden|uur|totaal|nätter|personer|dagar|totalt',
    ],
  },
  quotient: {
    clear: [
      'apiece|split|divid\\w*|half|halves|geteilt|hälfte|moitié|mitad|metà|helft|instal?ments?',
    ],
    other: [
      'per|each|an?|every|one|monthly|daily|weekly|hourly|rates?|share|je|pro|jede[rsn]?|monatlich|täglich|rate|par|chacun\\w*|chaque|por|cada|ciascun\\w*|mensil\\w*|ieder|elk',
    ],
  },
  mean: {
    clear: [
      'average\\w*|mean|avg|median|durchschnitt\\w*|mittel\\w*|schnitt|moyenne|media|promedio|medio|gemiddeld\\w*|medel\\w*|snitt|gennemsnit\\w*|średni\\w*',
    ],
  },
  part: {
    clear: [
      'vat|tax\\w*|tip|commission|surcharge|mwst|steuer\\w*|tva|iva|btw|moms|interest|zins\\w*',
    ],
    other: [
      '%|percent\\w*|discount\\w*|deposit|off|fees?|rebate|rabatt|prozent|anzahlung|remise|intérêts?|acompte|descuento|sconto|korting|cashback|coupon|share|half|reduc\\w*|increase\\w*|down payment|of',
    ],
  },
  ratio: {
    clear: ['fold|ratio|relative|multiple|faktor|factor|fach'],
    other: ['times|x|×|mal|fois|veces|twice|half|rate|per|keer|gånger'],
  },
  next_day: {
    clear: [
      'next day|day after|following day|tomorrow|day before|previous day|yesterday|overnight|nächste\\w* tag|folgetag|tag danach|tag darauf|tag davor|vortag|gestern|lendemain|veille|demain|hier|día siguiente|día anterior|mañana|giorno dopo|giorno prima|domani|volgende dag|dag erna|dagen efter|dagen innan',
    ],
  },
  date: {
    clear: [],
    other: [
      'by|until|till|due|within|from|after|before|end\\w*|expir\\w*|start\\w*|begin\\w*|deadline|latest|valid|earliest|return\\w*|arriv\\w*|deliver\\w*|next|last\\w*|check.?out|in \\p{L}+ (?:days?|weeks?|months?)|through|between|later|earlier|ago|on or before|no later|renew\\w*|run\\w*|extend\\w*|covered|first|notice|expect\\w*|eligible|refund\\w*|window|period|ready|available|turn\\w*',
      'bis|spätestens|ab|nach|vor|innerhalb|fällig|frist|endet|läuft|gilt|gültig|beginnt|ankunft|jusqu\\w*|avant|après|échéance|dès|dans|hasta|antes|después|vence|dentro|entro|fino|scad\\w*|prima|dopo|uiterlijk|voor|na|binnen|tot|vanaf|senast|före|efter|inom|till|från',
    ],
  },
}

const toPattern = (lists: readonly string[]) =>
  new RegExp(`(?<!\\p{L})(?:${lists.join('|')})(?!\\p{L})`, 'iu')
const patterns = Object.entries(words).map(([operation, { clear, other = [] }]) => ({
  operation: operation as Operation,
  pattern: toPattern([...clear, ...other]),
  clear: clear.length === 0 ? undefined : toPattern(clear),
}))
/** Signs that name an operation, between the figures around a value. */
const signs: readonly (readonly [pattern: RegExp, operation: Operation])[] = [
  [/\d\W{0,3}\+\W{0,3}[\d€$£]/u, 'sum'],
  [/\d[^\n\d+]{0,4} [-−–] ?\W{0,3}\d/u, 'difference'],
  [/\d[^\n\d]{0,12}[×*·x][^\n\d]{0,4}\d/u, 'product'],
  [/\d[^\n\d]{0,4}[/÷][^\n\d]{0,4}\d/u, 'quotient'],
  [/\d[^\n\d]{0,4}[/÷][^\n\d]{0,4}\d/u, 'share'],
]

/** Characters before and behind a value that are read for the operation that its sentence names. */
const before_chars = 160
const behind_chars = 60

/** The operations that a sentence names, and whether its words say that the value was calculated. */
export type Named = { named: ReadonlySet<Operation>; isCalculated: boolean }

/** All operations: what a calculation may be that no words name. */
export const anyOperation: ReadonlySet<Operation> = new Set(
  operations.filter((one) => one !== 'mean' && one !== 'next_day'),
)

/**
 * Reads which operations the sentence of a value names: the words and signs around it, the first
 * cell of its row, and the heading of its column.
 */
export function readOperations(text: string, value: Value): Named {
  const around = readAround(text, value)
  const found = patterns.filter(({ pattern }) => pattern.test(around))
  const signed = signs.filter(([pattern]) => pattern.test(around))
  return {
    named: new Set(
      [...found, ...signed.map(([, operation]) => ({ operation }))].map((one) => one.operation),
    ),
    isCalculated: signed.length > 0 || found.some(({ clear }) => clear?.test(around) === true),
  }
}

function readAround(text: string, { at: [start, end] }: Value): string {
  const sentence = openSentence(text.slice(Math.max(0, start - before_chars), start))
  const behind = /^(?:[^.!?\n]|[.!?](?=\S))*/.exec(text.slice(end, end + behind_chars))?.[0] ?? ''
  // The value itself is left out, and its unit stays.
  return `${headingOf(text, start)} ${sentence}0${behind}`
}

const lines_max = 60

/** Returns the first cell of the row of a value and the heading of its column; '' elsewhere. */
function headingOf(text: string, start: number): string {
  const line = text.lastIndexOf('\n', start - 1) + 1
  const row = text.slice(line, start)
  if (!row.trimStart().startsWith('|')) return leadOf(text, line)
  const column = row.split('|').length - 1
  let head = line
  for (let count = 0; head > 0 && count < lines_max; count += 1) {
    const earlier = text.lastIndexOf('\n', head - 2) + 1
    if (!text.slice(earlier, head).trimStart().startsWith('|')) break
    head = earlier
  }
  const heading = text.slice(head, text.indexOf('\n', head)).split('|')[column] ?? ''
  return `${heading} ${leadOf(text, head)}`
}

/** Returns the line that introduces a list: "Altogether:". */
function leadOf(text: string, line: number): string {
  const before = text.slice(Math.max(0, line - 400), line)
  // The search starts at colons only.
  const colon = before.search(/:\**\s*\n+(?:\s*[-*•|\d][^\n]*\n){0,12}$/)
  return colon < 0
    ? ''
    : before.slice(Math.max(before.lastIndexOf('\n', colon) + 1, colon - 80), colon)
}
