import { stem } from '../text/index.ts'

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
  ['duration', 91.3125 * day_s, 'quarter quarters'],
  ['duration', 365.25 * day_s, 'year years yr jahr jahre jahren ans année années año años'],
  ['duration', 3652.5 * day_s, 'decade decades jahrzehnt jahrzehnte'],
  ['mass', 0.001, 'mg milligram milligrams'],
  ['mass', 1, 'g gram grams gramm gramme grammes gramo gramos'],
  ['mass', 1000, 'kg kilo kilos kilogram kilograms kilogramm'],
  ['mass', 1e6, 't tonne tonnes tonnen ton tons'],
  ['mass', 453.59237, 'lb lbs pound_mass'],
  ['mass', 28.349523, 'oz ounce ounces'],
  ['length', 0.001, 'mm millimetre millimetres millimeter millimeters'],
  ['length', 0.01, 'cm centimetre centimetres centimeter centimeters zentimeter'],
  ['length', 1, 'm metre metres meter meters mètre mètres metro metros'],
  ['length', 1000, 'km kilometre kilometres kilometer kilometers'],
  ['length', 1609.344, 'mi mile miles'],
  ['length', 0.3048, 'ft foot feet'],
  ['length', 0.0254, 'inch inches'],
  ['area', 1, 'm² m2 sqm'],
  ['area', 1e6, 'km² km2'],
  ['area', 1e4, 'ha hectare hectares hektar'],
  ['area', 4046.8564224, 'acre acres'],
  ['volume', 0.001, 'ml millilitre millilitres milliliter milliliters'],
  ['volume', 0.01, 'cl'],
  ['volume', 1, 'l litre litres liter liters'],
  ['volume', 1000, 'm³ m3'],
  ['volume', 1e12, 'km³ km3'],
  ['data', 1, 'b byte bytes'],
  ['data', 1e3, 'kb kilobyte kilobytes'],
  ['data', 1e6, 'mb megabyte megabytes'],
  ['data', 1e9, 'gb gigabyte gigabytes'],
  ['data', 1e12, 'tb terabyte terabytes'],
  ['data', 1024, 'kib'],
  ['data', 1024 ** 2, 'mib'],
  ['data', 1024 ** 3, 'gib'],
  ['data', 1024 ** 4, 'tib'],
  ['energy', 1, 'wh'],
  ['energy', 1e3, 'kwh'],
  ['energy', 1e6, 'mwh'],
  ['energy', 1e9, 'gwh'],
  ['energy', 1e12, 'twh'],
  ['energy', 1162.22 / 1000, 'kcal'],
  ['energy', 1 / 3.6, 'kj'],
  ['energy', 1000 / 3.6, 'mj'],
  ['power', 1, 'w watt watts'],
  ['power', 1e3, 'kw kilowatt kilowatts'],
  ['power', 1e6, 'mw megawatt megawatts'],
  ['power', 1e9, 'gw gigawatt gigawatts'],
  ['pressure', 1, 'pa pascal'],
  ['pressure', 1e3, 'kpa'],
  ['pressure', 1e5, 'bar'],
  ['speed', 1, 'km/h kmh'],
  ['speed', 1.609344, 'mph'],
  ['speed', 3.6, 'm/s'],
  ['pressure', 6894.757, 'psi'],
  ['pressure', 133.322, 'mmhg'],
  ['torque', 1, 'nm newton_metre newton_metres'],
  ['torque', 1.3558179, 'ft-lb ft-lbs lb-ft lbf-ft ft·lb'],
  ['torque', 0.1129848, 'in-lb in-lbs lb-in'],
  ['frequency', 1, 'hz hertz'],
  ['frequency', 1e3, 'khz'],
  ['frequency', 1e6, 'mhz'],
  ['frequency', 1e9, 'ghz'],
  ['voltage', 1, 'v volt volts'],
  ['voltage', 1e-3, 'mv'],
  ['rotation', 1, 'rpm'],
  ['charge', 1, 'mah'],
  ['charge', 1000, 'ah'],
  [
    'points_of_percent',
    1,
    'percentage_point percentage_points pp prozentpunkt prozentpunkte prozentpunkten',
  ],
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
  hundred: 100,
  hundert: 100,
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
  milliarde: 1e9,
  milliard: 1e9,
  milliards: 1e9,
}

/** Returns the factor of a scale word; the lone letters only where `isTight`. */
export function findScale(word: string, isTight: boolean): number | undefined {
  const key = word.toLowerCase()
  if (key.length === 1 && !isTight) return undefined
  return Object.hasOwn(scales, key) ? scales[key] : undefined
}

/** Returns whether a word or sign means "per hundred". */
export function isPercent(word: string): boolean {
  return /^(?:%|percent|per_cent|prozent|pour_?cent|pct\.?|percentage)$/i.test(word)
}

/** Reads the unit of a structured fact: `km²`, `EUR million`, a word that is its own kind, or none. */
export function readFactUnit(text: string): { kind: string; factor: number } {
  const words = text.trim().split(/\s+/)
  if (words[0] === '') return { kind: '', factor: 1 }
  const scale =
    words.map((word) => findScale(word, false)).find((found) => found !== undefined) ?? 1
  const known = words.map(findKind).find((found) => found !== undefined)
  if (known !== undefined) return { kind: known.kind, factor: known.factor * scale }
  return { kind: `count of ${stem(text.trim().toLowerCase())}`, factor: scale }
}

/** Returns the kind of a unit, a currency, a percentage or a group of people. */
export function findKind(word: string): { kind: string; factor: number } | undefined {
  const currency = findCurrency(word)
  if (currency !== undefined) return { kind: currency, factor: 1 }
  if (isMinorUnit(word)) return { kind: 'cent', factor: 0.01 }
  if (isPercent(word)) return { kind: '%', factor: 1 }
  const unit = findUnit(word)
  if (unit !== undefined) return { kind: unit.dimension, factor: unit.factor }
  return people.has(stem(word.toLowerCase())) ? { kind: 'people', factor: 1 } : undefined
}

const people = new Set(
  'people person employee inhabitant resident worker einwohner personen habitant'
    .split(' ')
    .map(stem),
)
