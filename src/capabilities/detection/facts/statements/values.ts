import type { MemoryEntry, Statement } from '../../contract.ts'

/** A stated fact: its key, in the words of questions and answers, and its value. */
type Fact = { key: string; kind: string; value: string }

/** Reads named values of a sentence: "my order number is 4711", "the deadline is March 3". */
export function readFacts(sentence: string): Statement[] {
  // Addresses contain words as well: `kim@shop.example`.
  if (hypothetical.test(sentence.replace(/\S+@\S+|https?:\S+/g, ' '))) return []
  const found = new Map<string, Statement>()
  const isQuestion = sentence.trim().endsWith('?')
  const plain = sentence.replace(eMail, 'email')
  for (const pattern of isQuestion ? idPatterns : patterns) {
    for (const match of plain.matchAll(pattern)) {
      const statement = statementOf(sentence, match)
      if (statement !== undefined && !found.has(statement.slot)) {
        found.set(statement.slot, statement)
      }
    }
  }
  if (!isQuestion) addOwnFacts(found, sentence)
  return [...found.values()].slice(0, facts_max)
}

function addOwnFacts(found: Map<string, Statement>, sentence: string): void {
  for (const { pattern, key } of selfPatterns) {
    const rest = pattern.exec(sentence)
    if (rest === null) continue
    const value = readValue(sentence.slice(rest.index + rest[0].length))
    if (value !== undefined) add(found, { sentence, key, kind: value.kind, value: value.normal })
  }
}

const facts_max = 8

/** The spellings of `email`, also in compound words: “E-Mail-Adresse”. */
const eMail = /\be-?mail(?:[- ]?adresse|[- ]address)?\b/gi

const hypothetical =
  /\b(?:if|suppose|imagine|assume|assuming|what about|for example|e\.g|example|might|maybe|perhaps|not sure|i think|would|could|was|were|used to|(?:my|the|an|our) old|previous|former|or|each|per|every)\b/i

const statedPatterns: readonly RegExp[] = [
  /\b(?:my|our|the|meine?|unsere?)(?: (?:correct|right|new|full|current|actual|exact|total|maximum|customer's|user's))? (?<key>\p{L}{2,20}(?: \p{L}{2,20}){0,2}?)(?: (?:number|no\.|id|code|#))?(?: (?:is|are|will be|has to be|must be|should be|=|ist|sind|beträgt|lautet)|:|, which is,?) (?:now |actually |on |at |called |named |due on |due |in |for |exactly |still )?(?=(?<value>\S.{0,80}))/giu,
]

/** A named id is stated also within a question: “can you change booking AN-3318?” */
const idPatterns: readonly RegExp[] = [
  /\b(?<key>order|booking|ticket|invoice|account|reservation|case|flight|customer|tracking|policy|member|membership)(?: (?:number|no\.?|id|code|#))? ?#?(?=(?<value>[a-z]{0,4}-?\d{3,20}\b.{0,10}))/giu,
]

const patterns = [...statedPatterns, ...idPatterns]

const selfPatterns: readonly { pattern: RegExp; key: string }[] = [
  {
    pattern:
      /\b(?:my name is|my name's|call me|i am called|i'm called|ich heiße|mein name ist)\s+/i,
    key: 'name',
  },
  {
    pattern:
      /^(?:hi|hello|hey)?[,!. ]{0,3}(?:i am|i'm|this is) (?=\p{Lu}\p{Ll}+(?: \p{Lu}[\p{Ll}’'-]+){0,2}(?:[.,!]| from | and | here\b|$))/iu,
    key: 'name',
  },
  { pattern: /\bi(?: am|'m) (?=\d{1,3} years old\b)/i, key: 'age' },
  { pattern: /\b(?:i live in|(?:ich )?wohne in)\s+/i, key: 'city' },
  { pattern: /\bi(?:'m| am) (?:based|located) in\s+/i, key: 'city' },
  {
    pattern:
      /\b(?:for|we are|we're|there are|there will be|party of|group of)\s+(?=(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?:people|persons|guests|adults|of us|attendees|passengers|participants)\b)/i,
    key: 'people',
  },
]

function statementOf(sentence: string, match: RegExpMatchArray): Statement | undefined {
  const key = factKey(match.groups?.['key'] ?? '')
  const value = readValue(match.groups?.['value'] ?? '')
  if (key === undefined || value === undefined) return undefined
  // A capitalised word is a value only for a key that takes names.
  if (value.kind === 'name' && !takesNames.test(key)) return undefined
  return {
    kind: 'fact',
    slot: `fact:${key}`,
    value: `${value.kind}:${value.normal}`,
    holds: 'always',
    quote: sentence,
  }
}

function add(found: Map<string, Statement>, fact: Fact & { sentence: string }): void {
  const slot = `fact:${fact.key}`
  if (found.has(slot)) return
  found.set(slot, {
    kind: 'fact',
    slot,
    value: `${fact.kind}:${fact.value}`,
    holds: 'always',
    quote: fact.sentence,
  })
}

const takesNames =
  /^(?:name|city|town|country|destination|origin|home|company|project|team|manager|boss|dog|cat|wife|husband|daughter|son|doctor|employer|street|language|capital|departure|hotel|airline|state|tier|plan|color|colour|brand|model|event|product|client|customer|venue|airport|hometown)/

/** Words of a key without meaning of their own. */
const fillers = new Set(
  'number no id code is are own current full name address of to the'.split(' '),
)
const notKeys = new Set(
  'problem question answer issue thing point reason goal idea result output input error file code function task first second last next only other same best way one following value key rule limit answer total'.split(
    ' ',
  ),
)

/** Keys whose values change by themselves and are not worth remembering. */
const passing = new Set(
  'time date day today status state version step count total size length price cost'.split(' '),
)

/** Normalises the words of a fact: "order number" and "order id" are both `order`. */
export function factKey(words: string): string | undefined {
  const all = words
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
  const telling = all.filter((word) => !fillers.has(word))
  const kept =
    telling.length > 0 ? telling : all.filter((word) => word === 'name' || word === 'address')
  const last = kept.at(-1)
  if (kept.length === 1 && passing.has(kept[0] ?? '')) return undefined
  if (last === undefined || notKeys.has(last) || last.length < 3 || kept.length > 3)
    return undefined
  return kept.join(' ').replace(/^e-mail|^mail$/, 'email')
}

/** Kind of a fact's value: only values of one kind can contradict each other. */
type FactKind = 'email' | 'phone' | 'code' | 'number' | 'date' | 'weekday' | 'time' | 'name'

/** A value as written, and normalised for comparison. */
export type FactValue = { kind: FactKind; text: string; normal: string }

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const monthWord =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const weekdays = '(?:mon|tues|wednes|thurs|fri|satur|sun)day'

const kinds: readonly { kind: FactKind; pattern: RegExp; normal: (text: string) => string }[] = [
  {
    kind: 'email',
    pattern: /^[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/u,
    normal: (text) => text.toLowerCase(),
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `^(?:\\d{4}-\\d{2}-\\d{2}|(?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${monthWord}\\b(?:,? \\d{4}\\b)?|${monthWord}\\.? \\d{1,2}(?:st|nd|rd|th)?\\b(?:,? \\d{4}\\b)?)`,
      'i',
    ),
    normal: normaliseDate,
  },
  {
    kind: 'phone',
    pattern: /^(?=(?:[^\d\n]{0,3}\d){7})\+?\(?\d{1,5}\)?(?:[ /-]\(?\d{2,8}\)?){1,4}(?![\w-])/,
    normal: (text) => text.replace(/\D/g, ''),
  },
  {
    kind: 'weekday',
    pattern: new RegExp(`^(?:next |this )?${weekdays}\\b`, 'i'),
    normal: getLastWord,
  },
  {
    kind: 'time',
    pattern: /^(?:\d{1,2}:\d{2}(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?)/i,
    normal: normaliseTime,
  },
  {
    kind: 'code',
    pattern:
      /^#?(?=[\w-]{0,30}\d)(?=[\w-]{0,30}[a-z-])[a-z0-9]+(?:[-_][a-z0-9]+)*(?![\w@]|[-.]\w)/i,
    normal: (text) => text.replace(/^#/, '').toLowerCase(),
  },
  {
    kind: 'number',
    pattern:
      /^[#$€£]?\+?\d{1,3}(?:[,’ ]\d{3})+(?:\.\d{1,9})?|^[#$€£+]?\d{1,20}(?:\.\d{1,9})?(?![\w-])/,
    normal: normaliseNumber,
  },
  {
    kind: 'name',
    pattern: /^\p{Lu}[\p{L}’'-]{1,30}(?: \p{Lu}[\p{L}’'-]{0,30}){0,3}/u,
    normal: (text) => text.toLowerCase(),
  },
]

/** A count with its unit (“15-inch”, “3-day”) describes, and names nothing. */
const measure = /^\d{1,4}-\p{Ll}{3,}$/u

/** Reads the value at the start of a text; undefined if it starts with no value. */
export function readValue(text: string): FactValue | undefined {
  const bare = text.replace(/^[\s"'“‘*_`]{1,4}/, '')
  for (const { kind, pattern, normal } of kinds) {
    const found = pattern.exec(bare)?.[0]
    if (found !== undefined && !measure.test(found))
      return { kind, text: found, normal: normal(found) }
  }
  return readSpelledNumber(bare)
}

/** Returns the normalised values of a kind in a text of a person. */
export function readValues(text: string, kind: string): string[] {
  const starts = text.slice(0, said_chars_max).matchAll(/(?<![\p{L}\p{N}.:-])(?=[\p{L}\p{N}])/gu)
  return [...starts].flatMap(({ index }) => {
    const value = readValue(text.slice(index, index + 40))
    return value?.kind === kind ? [value.normal] : []
  })
}

const said_chars_max = 1_000

/** Tells whether two normalised values can mean the same: a date without its year, a first name. */
export function isCompatible(kind: string, one: string, other: string): boolean {
  if (one === other) return true
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (kind === 'date') return long.startsWith(`${short}-`)
  return kind === 'name' && (long.startsWith(`${short} `) || long.endsWith(` ${short}`))
}

const spelled = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

function readSpelledNumber(text: string): FactValue | undefined {
  const word = /^[a-z]{3,6}\b/i.exec(text)?.[0]
  const value = word === undefined ? -1 : spelled.indexOf(word.toLowerCase())
  return word === undefined || value < 0
    ? undefined
    : { kind: 'number', text: word, normal: String(value) }
}

function normaliseNumber(text: string): string {
  const digits = text.replace(/[^\d.]/g, '')
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

function getLastWord(text: string): string {
  return text.toLowerCase().split(' ').at(-1) ?? ''
}

/** Returns `mm-dd`, followed by `-yyyy` if the year is given. */
function normaliseDate(text: string): string {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (iso !== null) return `${iso[2]}-${iso[3]}-${iso[1]}`
  const low = text.toLowerCase()
  const month = months.findIndex((name) => new RegExp(`\\b${name}`).test(low)) + 1
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/.exec(low)?.[1] ?? ''
  const year = /\b(\d{4})\b/.exec(low)?.[1]
  const short = `${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
  return year === undefined ? short : `${short}-${year}`
}

/** Returns minutes of the day. */
function normaliseTime(text: string): string {
  const low = text.toLowerCase()
  const hour = Number(/^\d{1,2}/.exec(low)?.[0] ?? 0)
  const minute = Number(/:(\d{2})/.exec(low)?.[1] ?? 0)
  const half = low.includes('p') && hour < 12 ? 12 : 0
  return String((hour + half) * 60 + minute)
}

/** Splits the value of a stored fact into kind and normalised value. */
export function factValueOf({ value }: MemoryEntry): { kind: string; normal: string } {
  const at = value.indexOf(':')
  return { kind: value.slice(0, at), normal: value.slice(at + 1) }
}

const asked =
  /\b(?:your|the|(?:which|what)(?! (?:is|are|was|were|do|does|did|about|your|the)\b))(?: (?:full|current|exact|complete|correct|total))? ([a-z]{2,20}(?: [a-z]{2,20}){0,2})/gi
const keys_max = 6

/** Returns the keys of facts asked for by "your order number", "how many people", "what name". */
export function readAskedKeys(sentence: string): string[] {
  const keys = new Set<string>()
  for (const [, words = ''] of sentence.replace(eMail, 'email').matchAll(asked)) {
    for (const key of prefixesOf(words)) keys.add(key)
    if (keys.size >= keys_max) break
  }
  if (/\bhow many (?:people|persons|guests|adults|passengers|participants)\b/i.test(sentence))
    keys.add('people')
  if (/\bhow old are you\b/i.test(sentence)) keys.add('age')
  if (
    /\bwhat (?:city|town) (?:are|do) you\b.{0,20}\b(?:live|based|located)\b|\bwhere do you live\b/i.test(
      sentence,
    )
  )
    keys.add('city')
  return [...keys]
}

function prefixesOf(words: string): string[] {
  const all = words.split(' ')
  return all.flatMap((_word, at) => factKey(all.slice(0, at + 1).join(' ')) ?? [])
}
