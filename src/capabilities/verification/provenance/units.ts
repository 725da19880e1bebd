/** A unit: its dimension and the factor to the dimension's base unit. */
export type Unit = { dimension: string; factor: number; offset?: number }

const hour_s = 3600
const day_s = 86_400

const table: readonly (readonly [dimension: string, factor: number, names: string])[] = [
  ['duration', 0.001, 'ms millisecond milliseconds millisekunden'],
  ['duration', 1, 's sec secs second seconds sekunde sekunden seconde secondes segundo segundos'],
  ['duration', 60, 'min mins minute minutes minuten minuto minutos'],
  ['duration', hour_s, 'h hr hrs hour hours stunde stunden std heure heures hora horas'],
  [
    'duration',
    day_s,
    'd day days tag tage tagen jour jours día días night nights nacht nächte nuit nuits noche noches',
  ],
  ['duration', 7 * day_s, 'week weeks woche wochen semaine semaines semana semanas'],
  ['duration', 30.4375 * day_s, 'month months monat monate monaten mois mes meses'],
  ['duration', 365.25 * day_s, 'year years yr jahr jahre jahren ans année années año años'],
  ['duration', 3652.5 * day_s, 'decade decades jahrzehnt jahrzehnte'],
  ['mass', 0.001, 'mg milligram milligrams'],
  ['mass', 1, 'g gram grams gramm gramme grammes gramo gramos'],
  ['mass', 1000, 'kg kilo kilos kilogram kilograms kilogramm'],
  ['mass', 1e6, 't tonne tonnes tonnen ton tons'],
  ['mass', 453.592, 'lb lbs pound-weight'],
  ['mass', 28.3495, 'oz ounce ounces'],
  ['length', 0.001, 'mm'],
  ['length', 0.01, 'cm'],
  ['length', 1, 'm metre metres meter meters mètre mètres metro metros'],
  ['length', 1000, 'km kilometre kilometres kilometer kilometers'],
  ['length', 1609.344, 'mi mile miles'],
  ['length', 0.3048, 'ft foot feet'],
  ['length', 0.0254, 'inch inches'],
  ['area', 1, 'm² m2 sqm'],
  ['area', 1e6, 'km² km2'],
  ['area', 1e4, 'ha hectare hectares'],
  ['volume', 0.001, 'ml'],
  ['volume', 0.01, 'cl'],
  ['volume', 1, 'l litre litres liter liters'],
  ['volume', 1000, 'm³ m3'],
  ['data', 1, 'b byte bytes'],
  ['data', 1e3, 'kb kib'],
  ['data', 1e6, 'mb mib'],
  ['data', 1e9, 'gb gib'],
  ['data', 1e12, 'tb tib'],
  ['energy', 1, 'wh'],
  ['energy', 1e3, 'kwh'],
  ['energy', 1e6, 'mwh'],
  ['energy', 1e9, 'gwh'],
  ['energy', 1162.22 / 1000, 'kcal'],
  ['energy', 1 / 3.6, 'kj'],
  ['energy', 1000 / 3.6, 'mj'],
  ['power', 1, 'w watt watts'],
  ['power', 1e3, 'kw'],
  ['power', 1e6, 'mw'],
  ['pressure', 1, 'pa'],
  ['pressure', 1e3, 'kpa'],
  ['pressure', 1e5, 'bar'],
  ['speed', 1, 'km/h kmh'],
  ['speed', 1.609344, 'mph'],
]

const units = new Map<string, Unit>()
for (const [dimension, factor, names] of table) {
  for (const name of names.split(' ')) units.set(name, { dimension, factor })
}
for (const name of ['°c', '℃', 'celsius']) units.set(name, { dimension: 'temperature', factor: 1 })
for (const name of ['°f', 'f'])
  units.set(name, { dimension: 'temperature', factor: 5 / 9, offset: -32 })

const currencies: Record<string, string> = {
  '€': 'EUR',
  eur: 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  $: 'USD',
  usd: 'USD',
  dollar: 'USD',
  dollars: 'USD',
  '£': 'GBP',
  gbp: 'GBP',
  pound: 'GBP',
  pounds: 'GBP',
  chf: 'CHF',
  franc: 'CHF',
  francs: 'CHF',
  franken: 'CHF',
  '¥': 'JPY',
  jpy: 'JPY',
  yen: 'JPY',
  '₹': 'INR',
  inr: 'INR',
  sek: 'SEK',
  nok: 'NOK',
  dkk: 'DKK',
  pln: 'PLN',
  czk: 'CZK',
  cad: 'CAD',
  aud: 'AUD',
  crown: 'KR',
  crowns: 'KR',
  kroner: 'KR',
  kronor: 'KR',
  kr: 'KR',
}

const minor = new Set(['cent', 'cents', 'pence', 'centimes', 'céntimos', 'ct'])

/** Returns the unit of a word or sign. */
export function findUnit(word: string): Unit | undefined {
  return units.get(word.toLowerCase()) ?? units.get(word.toLowerCase().replace(/\.$/, ''))
}

/** Returns the ISO code of a currency's sign, code or name. */
export function findCurrency(word: string): string | undefined {
  const key = word.toLowerCase()
  return Object.hasOwn(currencies, key) ? currencies[key] : undefined
}

/** Returns whether a word names the hundredth part of a currency. */
export function isMinorUnit(word: string): boolean {
  return minor.has(word.toLowerCase())
}

const scales: Record<string, number> = {
  k: 1e3,
  thousand: 1e3,
  tausend: 1e3,
  mille: 1e3,
  mil: 1e3,
  mn: 1e6,
  m: 1e6,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
  mio: 1e6,
  millones: 1e6,
  bn: 1e9,
  billion: 1e9,
  milliarden: 1e9,
  milliards: 1e9,
}

/** Returns the factor of a scale word; the lone letters only where `isTight`. */
export function findScale(word: string, isTight: boolean): number | undefined {
  const key = word.toLowerCase()
  if (key.length === 1 && !isTight) return undefined
  return Object.hasOwn(scales, key) ? scales[key] : undefined
}

const words: Record<string, number> = {}
const lists = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty',
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig',
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince',
]
for (const list of lists) {
  for (const [value, word] of list.split(' ').entries()) words[word] ??= value
}
const tens = 'thirty forty fifty sixty seventy eighty ninety'.split(' ')
for (const [at, word] of tens.entries()) words[word] = (at + 3) * 10
words['dozen'] = 12
// These are common words of other languages, or pronouns.
for (const word of ['one', 'un', 'uno', 'null', 'once', 'acht', 'elf', 'mil', 'onze']) {
  if (word !== 'one') delete words[word]
}

/** Matches a number word; its group is the word. */
export const numberWords = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:(?:${tens.join('|')}|twenty)-)?(?:${Object.keys(words).join('|')})(?![\\p{L}\\p{N}])`,
  'giu',
)

/** Returns the number that a word such as "twelve" or "twenty-two" means. */
export function readNumberWord(text: string): number {
  return text
    .toLowerCase()
    .split('-')
    .reduce((sum, word) => sum + (Object.hasOwn(words, word) ? (words[word] ?? 0) : 0), 0)
}
