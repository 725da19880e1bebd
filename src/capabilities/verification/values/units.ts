import { stem } from '../knowledge/tokens.ts'

/** A kind of quantity and the factor to the kind's base unit. Values of one kind compare. */
export interface Unit {
  readonly kind: string
  readonly factor: number
}

/** Kinds with their units: names separated by spaces, by factor. Currencies are a kind each. */
const table: Record<string, Record<string, number>> = {
  length: {
    'mm millimetre millimeter': 0.001,
    'cm centimetre centimeter zentimeter': 0.01,
    'm metre meter metres': 1,
    'km kilometre kilometer kilometres': 1000,
    'inch inches': 0.0254,
    'ft foot feet': 0.3048,
    'mi mile miles': 1609.344,
  },
  mass: {
    'mg milligram milligramm': 1e-6,
    'g gram gramm': 0.001,
    'kg kilo kilogram kilogramm': 1,
    't tonne tonnen': 1000,
    'lb lbs pound_mass': 0.45359237,
    'oz ounce': 0.028349523,
  },
  time: {
    'ms millisecond': 0.001,
    's sec second sekunde seconde segundo': 1,
    'min minute minuten minuto': 60,
    'h hour hr stunde stunden heure hora': 3600,
    'day tag tage tagen jour dia': 86400,
    'week woche wochen semaine semana': 604800,
  },
  months: {
    'month monat monate monaten mois mes meses': 1,
    quarter: 3,
    'year jahr jahre jahren an ans annee ano anos': 12,
  },
  bytes: {
    'byte b': 1,
    'kb kilobyte': 1e3,
    'mb megabyte': 1e6,
    'gb gigabyte': 1e9,
    'tb terabyte': 1e12,
    kib: 1024,
    mib: 1048576,
    gib: 1073741824,
  },
  power: { 'w watt': 1, 'kw kilowatt': 1e3, 'mw megawatt': 1e6, 'gw gigawatt': 1e9 },
  energy: { wh: 1, kwh: 1e3, mwh: 1e6, gwh: 1e9, twh: 1e12 },
  area: { 'm2 m²': 1, 'ha hectare hektar': 1e4, 'km2 km²': 1e6, acre: 4046.8564224 },
  volume: { 'ml millilitre milliliter': 0.001, 'l litre liter': 1, 'm3 m³': 1000, 'km3 km³': 1e12 },
  speed: { 'km/h kmh': 1, mph: 1.609344, 'm/s': 3.6 },
  pressure: { 'pa pascal': 1, kpa: 1e3, bar: 1e5 },
  charge: { mah: 1, ah: 1000 },
  percent: { '% percent per_cent prozent pourcent pct pct.': 1 },
  points_of_percent: { 'percentage_point pp prozentpunkt': 1 },
  celsius: { '°c celsius': 1 },
  fahrenheit: { '°f fahrenheit': 1 },
  EUR: { '€ eur euro': 1, 'cent ct': 0.01 },
  USD: { '$ usd dollar': 1 },
  GBP: { '£ gbp pound': 1 },
  CHF: { 'chf franc franken': 1 },
  JPY: { '¥ jpy yen': 1 },
  people: { 'people person employee inhabitant resident worker einwohner personen habitant': 1 },
}

const units = new Map<string, Unit>(
  Object.entries(table).flatMap(([kind, byName]) =>
    Object.entries(byName).flatMap(([names, factor]) =>
      names.split(' ').map((name) => [name, { kind, factor }] as const),
    ),
  ),
)

const multipliers: Record<string, number> = {
  thousand: 1e3,
  k: 1e3,
  tausend: 1e3,
  million: 1e6,
  mio: 1e6,
  millionen: 1e6,
  m: 1e6,
  bn: 1e9,
  billion: 1e9,
  milliard: 1e9,
  milliarde: 1e9,
  milliarden: 1e9,
}

/** Finds a unit by its name in any case, singular or plural. */
export function findUnit(name: string): Unit | undefined {
  const lower = name.toLowerCase()
  return units.get(lower) ?? (lower.endsWith('s') ? units.get(lower.slice(0, -1)) : undefined)
}

/** Finds the factor of a word such as `million`; `m` and `k` count only next to a currency. */
export function findMultiplier(name: string, afterCurrency: boolean): number | undefined {
  const lower = name.toLowerCase()
  if (lower.length === 1 && !afterCurrency) return undefined
  return multipliers[lower] ?? (lower.endsWith('s') ? multipliers[lower.slice(0, -1)] : undefined)
}

/** Reads the unit of a structured fact: `km²`, `EUR million`, a word that is its own kind, or none. */
export function readFactUnit(text: string): Unit {
  if (text.trim() === '') return { kind: '', factor: 1 }
  const words = text.trim().split(/\s+/)
  const unit = words.map(findUnit).find((found) => found !== undefined)
  const factor = words
    .map((word) => findMultiplier(word, false))
    .find((found) => found !== undefined)
  if (unit !== undefined) return { kind: unit.kind, factor: unit.factor * (factor ?? 1) }
  return { kind: `count of ${stem(text.trim().toLowerCase())}`, factor: factor ?? 1 }
}
