/** What kind of value a fact has: only values of one kind can contradict each other. */
export type FactKind = 'email' | 'phone' | 'code' | 'number' | 'date' | 'weekday' | 'time' | 'name'

/** A value as it stands in a text, and in the form in which it is compared. */
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
    normal: normalDate,
  },
  {
    kind: 'phone',
    pattern: /^(?=(?:[^\d\n]{0,3}\d){7})\+?\(?\d{1,5}\)?(?:[ /-]\(?\d{2,8}\)?){1,4}(?![\w-])/,
    normal: (text) => text.replace(/\D/g, ''),
  },
  {
    kind: 'weekday',
    pattern: new RegExp(`^(?:next |this )?${weekdays}\\b`, 'i'),
    normal: lastWord,
  },
  {
    kind: 'time',
    pattern: /^(?:\d{1,2}:\d{2}(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?)/i,
    normal: normalTime,
  },
  {
    kind: 'code',
    pattern: /^#?(?=[\w-]{0,30}\d)(?=[\w-]{0,30}[a-z-])[a-z0-9]+(?:[-_][a-z0-9]+)*(?![\w.@])/i,
    normal: (text) => text.replace(/^#/, '').toLowerCase(),
  },
  {
    kind: 'number',
    pattern:
      /^[#$€£]?\+?\d{1,3}(?:[,’ ]\d{3})+(?:\.\d{1,9})?|^[#$€£+]?\d{1,20}(?:\.\d{1,9})?(?![\w-])/,
    normal: normalNumber,
  },
  {
    kind: 'name',
    pattern: /^\p{Lu}[\p{L}’'-]{1,30}(?: \p{Lu}[\p{L}’'-]{0,30}){0,3}/u,
    normal: (text) => text.toLowerCase(),
  },
]

/** The value that a text begins with, or undefined. */
export function valueAt(text: string): FactValue | undefined {
  const bare = text.replace(/^[\s"'“‘*_`]{1,4}/, '')
  for (const { kind, pattern, normal } of kinds) {
    const found = pattern.exec(bare)?.[0]
    if (found !== undefined) return { kind, text: found, normal: normal(found) }
  }
  return spelledNumber(bare)
}

/** Whether two normal values of one kind can both be meant: a date without its year, a first name. */
export function isCompatible(kind: string, one: string, other: string): boolean {
  if (one === other) return true
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (kind === 'date') return long.startsWith(`${short}-`)
  return kind === 'name' && (long.startsWith(`${short} `) || long.endsWith(` ${short}`))
}

const spelled = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

function spelledNumber(text: string): FactValue | undefined {
  const word = /^[a-z]{3,6}\b/i.exec(text)?.[0]
  const value = word === undefined ? -1 : spelled.indexOf(word.toLowerCase())
  return word === undefined || value < 0
    ? undefined
    : { kind: 'number', text: word, normal: String(value) }
}

function normalNumber(text: string): string {
  const digits = text.replace(/[^\d.]/g, '')
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

function lastWord(text: string): string {
  return text.toLowerCase().split(' ').at(-1) ?? ''
}

/** `mm-dd`, and `-yyyy` behind it when there is a year. */
function normalDate(text: string): string {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (iso !== null) return `${iso[2]}-${iso[3]}-${iso[1]}`
  const low = text.toLowerCase()
  const month = months.findIndex((name) => new RegExp(`\\b${name}`).test(low)) + 1
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/.exec(low)?.[1] ?? ''
  const year = /\b(\d{4})\b/.exec(low)?.[1]
  const short = `${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
  return year === undefined ? short : `${short}-${year}`
}

/** Minutes of the day. */
function normalTime(text: string): string {
  const low = text.toLowerCase()
  const hour = Number(/^\d{1,2}/.exec(low)?.[0] ?? 0)
  const minute = Number(/:(\d{2})/.exec(low)?.[1] ?? 0)
  const half = low.includes('p') && hour < 12 ? 12 : 0
  return String((hour + half) * 60 + minute)
}
