import { BoundedCache } from './bounded-cache.ts'

/** Returns whether a name is one of the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  // `Intl` also knows offsets such as `+05:30`, which are not names.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const day_s = 86_400

/**
 * Returns the instant at which a day of a time zone begins, in seconds since 1970. `day` counts the
 * days of the zone's calendar from 1970-01-01. A day may begin at 01:00, when a clock skips midnight,
 * and a day that a zone leaves out begins with the next one.
 */
export function startOfDay(zone: string, day: number): number {
  const midnight_s = day * day_s
  const candidates_s = [midnight_s - day_s, midnight_s + day_s]
    .map((at_s) => midnight_s - offsetAt(zone, at_s))
    .toSorted((a, b) => a - b)
  let [low = 0, high = 0] = candidates_s
  if (low === high) return low
  // The clock changes near this midnight: the first second that shows the day or a later one.
  low -= 1
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (dayAt(zone, middle) < day) low = middle
    else high = middle
  }
  return high
}

/** Returns the day of a time zone's calendar at an instant in seconds since 1970; see `startOfDay`. */
export function dayAt(zone: string, at_s: number): number {
  return Math.floor((at_s + offsetAt(zone, at_s)) / day_s)
}

/** Returns by how many seconds the clocks of a time zone are ahead of UTC at an instant. */
function offsetAt(zone: string, at_s: number): number {
  const text = formatOf(zone).format(at_s * 1000)
  const [, sign, hours, minutes, seconds = '0'] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? []
  if (hours === undefined) return 0
  const size_s = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -size_s : size_s
}

/** A format takes long to make and much memory, so that only the last zones are kept. */
const formats = new BoundedCache<string, Intl.DateTimeFormat>(50)

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    timeZoneName: 'longOffset',
  })
  formats.set(timeZone, format)
  return format
}
