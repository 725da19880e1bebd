import type { Day, Value } from './value.ts'

const monthNames = [
  'january|jan|januar|janvier|enero',
  'february|feb|februar|février|febrero',
  'march|mar|märz|mars|marzo',
  'april|apr|avril|abril',
  'may|mai|mayo',
  'june|jun|juni|juin|junio',
  'july|jul|juli|juillet|julio',
  'august|aug|août|agosto',
  'september|sept|sep|septembre|septiembre',
  'october|oct|oktober|okt|octobre|octubre',
  'november|nov|novembre|noviembre',
  'december|dec|dezember|dez|décembre|diciembre',
]
const monthByName = new Map(
  monthNames.flatMap((names, at) => names.split('|').map((name) => [name, at + 1] as const)),
)
const month = `(?<month>${[...monthByName.keys()].sort((a, b) => b.length - a.length).join('|')})\\.?`

const patterns: readonly RegExp[] = [
  /(?<!\d)(?<year>[12]\d{3})-(?<m>\d{2})-(?<d>\d{2})(?!\d)/g,
  /(?<![\p{L}\d.-])(?<year>(?:19|20)\d{2})(?<m>0[1-9]|1[0-2])(?<d>0[1-9]|[12]\d|3[01])(?=T|Z|(?![\p{L}\d.,]))/gu,
  /(?<![\d.,/])(?<d>\d{1,2})(?<sep>[./])(?<m>\d{1,2})\k<sep>(?<year>(?:19|20)\d{2})(?!\d)/g,
  new RegExp(
    `(?<![\\p{L}\\d.,:])(?<d>\\d{1,2})(?:st|nd|rd|th|er|\\.)?(?: of| de)?[ /-]${month}(?![\\p{L}])(?:,? (?:de )?(?<year>(?:19|20)\\d{2})|[/-](?<year2>(?:19|20)\\d{2}))?`,
    'giu',
  ),
  new RegExp(
    `(?<![\\p{L}\\d])${month} (?<d>\\d{1,2})(?:st|nd|rd|th)?(?![\\d:%])(?:,? (?<year>(?:19|20)\\d{2}))?`,
    'giu',
  ),
  // "bis 25.02." and "25.02., 10 Uhr".
  /(?<=(?:\b(?:am|bis|vom|ab|zum|den|seit|und|dem|im|der|til|den)|[-–,(]) {0,2}(?:(?:Mo|Di|Mi|Do|Fr|Sa|So)\.?,? )?)(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?!\d)/gu,
  new RegExp(`(?<![\\p{L}\\d])${month} (?<year>(?:19|20)\\d{2})(?!\\d)`, 'giu'),
]

/** Reads the calendar days of a text, also without their year. */
export function readDates(text: string): Value[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const date = dateFrom(match)
      return date === undefined
        ? []
        : [...startOfRange(text, date), date, ...endOfRange(text, date)]
    }),
  )
}

const rangeBefore =
  /(?<![\d.,:/])(?<d>\d{1,2})\.?(?:[-–—]| (?:to|and|bis|und|au|et|al?|y|until|or) (?:\p{L}{3,10},? )?(?:the |den |dem )?)$/u

/** Characters before a date that are read for the start of a range. */
const range_chars = 28

/** Reads the first day of "10 to 16 February", which has the month of the second. */
function startOfRange(text: string, { at: [end], days }: Value): Value[] {
  const match = rangeBefore.exec(text.slice(Math.max(0, end - range_chars), end))
  const [second] = days ?? []
  if (match === null || second?.day === undefined) return []
  const start = Math.max(0, end - range_chars) + match.index
  const written = match.groups?.['d'] ?? ''
  const first = { ...second, day: Number(written) }
  if (first.day < 1 || first.day > 31) return []
  const normal = [first.year ?? '????', first.month, first.day].join('-')
  return [
    { kind: 'date', text: written, at: [start, start + written.length], normal, days: [first] },
  ]
}

const rangeBehind =
  /^(?:[-–—]| (?:to|and|until|through) (?:\p{L}{3,10},? )?(?:the )?)(?<d>\d{1,2})(?:st|nd|rd|th)?(?![\d:.,]?\d|\p{L}| ?(?:[ap]\.?m|\p{L}{3}))/u

/** Reads the second day of "October 3 to 17", which has the month of the first. */
function endOfRange(text: string, { at: [, end], days, text: written }: Value): Value[] {
  const [first] = days ?? []
  if (first?.day === undefined || !/^\p{L}/u.test(written)) return []
  const match = rangeBehind.exec(text.slice(end, end + range_chars))
  const day = Number(match?.groups?.['d'] ?? 0)
  if (match === null || day <= first.day || day > 31) return []
  const digits = match.groups?.['d'] ?? ''
  const start = end + match[0].indexOf(digits)
  const normal = [first.year ?? '????', first.month, day].join('-')
  const at = [start, start + digits.length] as const
  return [{ kind: 'date', text: digits, at, normal, days: [{ ...first, day }] }]
}

function dateFrom(match: RegExpExecArray): Value | undefined {
  const { year, year2, m, d, month: name, sep } = match.groups ?? {}
  const monthNumber = name === undefined ? Number(m) : monthByName.get(name.toLowerCase())
  const parts = dayFrom(year ?? year2, monthNumber, d)
  const days = [parts]
  // Between slashes, the month may come first.
  if (sep === '/') days.push(dayFrom(year, Number(d), m))
  const valid = days.filter((day) => day !== undefined)
  const first = valid[0]
  if (first === undefined) return undefined
  return {
    kind: 'date',
    text: match[0],
    at: [match.index, match.index + match[0].length],
    normal: [first.year ?? '????', first.month, first.day ?? '??'].join('-'),
    days: valid,
  }
}

function dayFrom(year: string | undefined, month: number | undefined, d?: string): Day | undefined {
  const day = d === undefined ? undefined : Number(d)
  if (month === undefined || !(month >= 1 && month <= 12)) return undefined
  if (day !== undefined && !(day >= 1 && day <= 31)) return undefined
  return {
    ...(year === undefined ? {} : { year: Number(year) }),
    month,
    ...(day === undefined ? {} : { day }),
  }
}

const clock =
  /(?<![\d.,]|(?<!\d{4}):)(?<h>\d{1,2})[:h](?<min>[0-5]\d)(?:[:](?<s>[0-5]\d)(?:[.,]\d{1,9})?)?(?![\d:])(?: ?(?<half>[ap])\.?m\b\.?)?/giu
const bareHour =
  /(?<![\d:.,/])(?<h>\d{1,2})(?:\.(?<min>[0-5]\d))?(?: ?(?<half>[ap])\.?m\b\.?| ?(?<uhr>Uhr)(?: (?<uhrmin>[0-5]\d)(?!\d))?| o'clock)/giu
/** `21.35 h` and `14 h` are times after the words of one; alone they are durations. */
const hourAfterWord =
  /(?<=(?:\ba las?|\blas|\bà|\bum|\bgegen|\bat|\bkl\.|\bdès|\bab|\bvers) )(?<h>[01]?\d|2[0-3])(?:\.(?<min>[0-5]\d))? ?h(?![\p{L}\d])/giu

/** Reads the times of day of a text. A time such as `1:37` may also be a duration. */
export function readTimes(text: string): Value[] {
  return [clock, bareHour, hourAfterWord].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => timeFrom(match, text) ?? []),
  )
}

/** Zones by the hours by which they are ahead of UTC. */
const zonesAhead: readonly (readonly [number, string])[] = [
  [-8, 'pst'],
  [-7, 'mst pdt'],
  [-6, 'cst mdt'],
  [-5, 'est cdt'],
  [-4, 'edt'],
  [0, 'z utc gmt wet'],
  [1, 'bst west cet mez'],
  [2, 'cest mesz eet'],
  [3, 'eest msk'],
  [5.5, 'ist'],
  [9, 'jst kst'],
  [10, 'aest'],
  [11, 'aedt'],
  [12, 'nzst'],
  [13, 'nzdt'],
]

const zones: ReadonlyMap<string, number> = new Map(
  zonesAhead.flatMap(([hours, names]) => names.split(' ').map((name) => [name, hours] as const)),
)
const zoneBehind =
  /^(?:[.,]\d{1,9})?(?:(?<z>Z)(?![\p{L}\d])|(?<sign>[+-])(?<hours>\d{2}):?(?<minutes>\d{2})|,? (?:\p{L}{2,16} time )?\(?(?<name>[A-Z]{3,4})(?![\p{L}\d]))/u

/** Reads the zone behind a time: `Z`, `+02:00`, `CET`, `Berlin time (CEST)`. */
function readZone(text: string, end: number): number | undefined {
  const { z, sign, hours, minutes, name } = zoneBehind.exec(text.slice(end, end + 40))?.groups ?? {}
  if (z !== undefined) return 0
  if (sign !== undefined)
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
  const known = zones.get(name?.toLowerCase() ?? '')
  return known === undefined ? undefined : known * 3600
}

function timeFrom(match: RegExpExecArray, text: string): Value | undefined {
  const { h, min, s, half, uhrmin } = match.groups ?? {}
  let hour = Number(h)
  if (hour > 47) return undefined
  if (half?.toLowerCase() === 'p' && hour < 12) hour += 12
  if (half?.toLowerCase() === 'a' && hour === 12) hour = 0
  const second = hour * 3600 + Number(min ?? uhrmin ?? 0) * 60 + Number(s ?? 0)
  const end = match.index + match[0].length
  const zone_s = readZone(text, end)
  return {
    kind: 'time',
    text: match[0],
    at: [match.index, end],
    normal: String(second),
    second,
    ...(zone_s === undefined ? {} : { zone_s }),
    isHalfOpen: half === undefined && hour >= 1 && hour <= 12 && !/^0|h$/.test(h ?? ''),
  }
}
