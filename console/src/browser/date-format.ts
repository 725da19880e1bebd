/** How a date is formatted, without its zone. */
export type DateOptions = Omit<Intl.DateTimeFormatOptions, 'timeZone'>

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a format of dates for a zone. Formats are kept: making one takes longer than using it. */
export function dateFormat(options: DateOptions, zone: string): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en', { ...options, timeZone: zone })
  formats.set(key, made)
  return made
}
