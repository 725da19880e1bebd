const names: readonly (readonly [period: string, forms: string])[] = [
  ['year', 'years?|yr|jahr|an|année|año|annual|annually|yearly|jährlich'],
  ['month', 'months?|mo|monat|mois|mes|monthly|monatlich|mensuel'],
  ['week', 'weeks?|woche|semaine|semana|weekly|wöchentlich'],
  ['day', 'days?|tag|jour|día|daily|täglich'],
  ['night', 'nights?|nacht|nuit|noche|nightly'],
  ['hour', 'hours?|stunde|heure|hora|hourly|stündlich'],
  ['minute', 'minutes?'],
  ['person', 'person|head|user|seat|member'],
]
const forms = names.map(([, words]) => words).join('|')
const phrase = new RegExp(
  `(?:(?<!\\p{L})(?:an?|per|pro|im|par|al|por) |/ ?)(${forms})(?!\\p{L})`,
  'giu',
)
const adverb =
  /(?<!\p{L})(?:annual(?:ly)?|yearly|monthly|weekly|daily|nightly|hourly|jährlich|monatlich|wöchentlich|täglich|stündlich|mensuel)(?!\p{L})/giu

/** Returns the periods that a text states behind an amount: `per month`, `/year`. */
export function readPeriods(text: string): Set<string> {
  return new Set([...text.matchAll(phrase)].map(([, word = '']) => periodOf(word)))
}

/** Returns the periods of adverbs: `monthly`. */
export function readAdverbs(text: string): Set<string> {
  return new Set([...text.matchAll(adverb)].map(([word]) => periodOf(word)))
}

/** Removes periods from a text: `EUR/month` is an amount of EUR. */
export function withoutPeriods(text: string): string {
  return text.replace(phrase, ' ').replace(adverb, ' ').trim()
}

function periodOf(word: string): string {
  const found = names.find(([, words]) => new RegExp(`^(?:${words})$`, 'iu').test(word))
  return found?.[0] ?? word
}
