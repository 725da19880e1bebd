/** One of several things that a result lists: its text, its words and what it denies. */
export type Option = {
  text: string
  words: ReadonlySet<string>
  denied: ReadonlySet<string>
  /** Its price, if it has one. */
  price: number | undefined
}

const options_max = 50
const text_chars_max = 16_384

/** Returns the things that a result lists; empty for fewer than two. */
export function readOptions(result: string): readonly Option[] {
  const text = result.slice(0, text_chars_max)
  const texts = readItems(text) ?? splitText(text)
  return texts.length < 2 || texts.length > options_max ? [] : texts.map(toOption)
}

/** Returns the objects of the first list in a JSON value. */
function readItems(text: string): string[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const values = typeof value === 'object' && value !== null ? Object.values(value) : []
    const list = Array.isArray(value) ? value : values.find((one) => Array.isArray(one))
    const items = Array.isArray(list) ? list : values
    return items.every((item) => typeof item === 'object') ? items.map(tellItem) : []
  } catch {
    return undefined
  }
}

/** Tells an object in words: `{"lift":true,"floor":0}` is “lift, floor 0 ground”. */
function tellItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item)
  const parts = Object.entries(item).map(([key, value]) => {
    if (value === true) return key
    if (value === false || value === null) return `no ${key}`
    if (key === 'floor' && Number(value) === 0) return 'ground floor'
    return typeof value === 'object' ? tellItem(value) : `${key}: ${String(value)}`
  })
  return parts.join(', ').slice(0, 1_000)
}

/**
 * Splits a list in words at its lines, without a heading; a single line at bars and semicolons, or at
 * commas if each part has an id or a price.
 */
function splitText(text: string): string[] {
  const lines = partsOf(text, /\n/)
  const [first = '', ...rows] = lines
  if (rows.length > 0) return rows.every(hasDigit) ? (hasDigit(first) ? lines : rows) : []
  const parts = partsOf(text, /\||;/)
  const list = parts.length > 1 ? parts : text.split(/,(?!\d)/)
  return list.every(hasDigit) ? list : []
}

function partsOf(text: string, sign: RegExp): string[] {
  return text.split(sign).filter((part) => part.trim() !== '')
}

function hasDigit(text: string): boolean {
  return /\d/.test(text)
}

function toOption(text: string): Option {
  const { told, denied } = readWords(text)
  const named =
    /\b\w*(?:price|total|rate|cost|fee|fare|rent|amount|miete|preis|prix|precio)\w*: (\d+(?:\.\d+)?)/i.exec(
      text,
    )
  const last = /(?<![\d:.-])(\d{2,6}(?:\.\d{1,2})?)(?![\d:.-])\D{0,6}$/.exec(text)
  const price = named?.[1] ?? (/: /.test(text) ? undefined : last?.[1])
  const words = new Set([...told, ...partsOfDay(text)])
  return { text, words, denied, price: price === undefined ? undefined : Number(price) }
}

/** Returns the part of the day of the first time in a text. */
function partsOfDay(text: string): string[] {
  const hour = Number(/(?<![\d:.])([01]?\d|2[0-3]):[0-5]\d/.exec(text)?.[1] ?? 24)
  if (hour >= 24) return []
  return [hour < 12 ? 'morning' : hour < 18 ? 'afternoon' : 'evening']
}

const noes =
  "(?:no|non|not|never|without|free of|avoid|allergic to|kein\\p{L}*|nicht|ohne|sans|pas de|sin|(?<![\\d.:,])0|(?:can't|cannot|can’t) \\p{L}+)"
const place = '(?:(?:on|in|at|im|am|auf|en|au) )?(?:(?:the|der|dem|la|le|el) )?'
const deniedWord = new RegExp(
  `(?<!\\p{L})${noes}[ -]${place}(?:\\p{L}+ (?:or|und|and) )?(\\p{L}{3,})`,
  'giu',
)
const freeWord = /(\p{L}{3,})(?:[ -](?:free|frei)\b|frei\b| allerg\p{L}+)/giu

/** Reads the words that a text tells and those that it denies: “non-smoking”, “gluten-free”, “no nuts”. */
export function readWords(text: string): { told: Set<string>; denied: Set<string> } {
  const low = text.toLowerCase()
  const denied = new Set<string>()
  for (const pattern of [deniedWord, freeWord])
    for (const [, word = ''] of low.matchAll(pattern)) denied.add(stemOf(word))
  const plain = low.replace(deniedWord, ' ').replace(freeWord, ' ')
  const told = new Set((plain.match(/\p{L}{3,}/gu) ?? []).map(stemOf))
  for (const [compound] of low.matchAll(/\p{L}{3,}-\p{L}{3,}/gu)) told.add(compound)
  return { told, denied }
}

/** Words for the same property. */
const alike = new Map(
  `inside=indoor indoors=indoor innen=indoor drinnen=indoor outside=outdoor outdoors=outdoor terrace=outdoor
   vegetarisch=vegetarian upstairs=stair downstairs=ground erdgeschoss=ground vormittags=morning matin=morning
   nachmittags=afternoon abends=evening`
    .split(/\s+/)
    .map((pair) => pair.split('=') as [string, string]),
)

function stemOf(word: string): string {
  const stem = word.length > 3 ? word.replace(/(?<!s)s$/, '') : word
  return alike.get(word) ?? alike.get(stem) ?? stem
}
