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
  new RegExp(`(?<![\\p{L}\\d])${month} (?<year>(?:19|20)\\d{2})(?!\\d)`, 'giu'),
]

/** Reads the calendar days of a text, also without their year. */
export function readDates(text: string): Value[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const date = dateFrom(match)
      return date === undefined ? [] : [...startOfRange(text, date), date]
    }),
  )
}

const rangeBefore =
  /(?<![\d.,:/])(?<d>\d{1,2})\.?(?:[-–—]| (?:to|and|bis|und|au|et|al?|y|until|or) )$/u

/** Reads the first day of "10 to 16 February", which has the month of the second. */
function startOfRange(text: string, { at: [end], days }: Value): Value[] {
  const match = rangeBefore.exec(text.slice(Math.max(0, end - 12), end))
  const [second] = days ?? []
  if (match === null || second?.day === undefined) return []
  const start = Math.max(0, end - 12) + match.index
  const written = match.groups?.['d'] ?? ''
  const first = { ...second, day: Number(written) }
  if (first.day < 1 || first.day > 31) return []
  const normal = [first.year ?? '????', first.month, first.day].join('-')
  return [
    { kind: 'date', text: written, at: [start, start + written.length], normal, days: [first] },
  ]
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
    [...text.matchAll(pattern)].flatMap((match) => timeFrom(match) ?? []),
  )
}

function timeFrom(match: RegExpExecArray): Value | undefined {
  const { h, min, s, half, uhrmin } = match.groups ?? {}
  let hour = Number(h)
  if (hour > 47) return undefined
  if (half?.toLowerCase() === 'p' && hour < 12) hour += 12
  if (half?.toLowerCase() === 'a' && hour === 12) hour = 0
  const second = hour * 3600 + Number(min ?? uhrmin ?? 0) * 60 + Number(s ?? 0)
  return {
    kind: 'time',
    text: match[0],
    at: [match.index, match.index + match[0].length],
    normal: String(second),
    second,
  }
}
