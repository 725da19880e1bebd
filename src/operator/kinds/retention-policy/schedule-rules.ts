const shortMonth = '(0?[2469]|11|[Ff][Ee][Bb]|[Aa][Pp][Rr]|[Jj][Uu][Nn]|[Ss][Ee][Pp]|[Nn][Oo][Vv])'
/** Days that no month of the schedule has: 30 and 31 of February, 31 of a short month. */
const noSuchDay = [
  '3[01]([,-]3[01])* (0?2|[Ff][Ee][Bb])',
  `31 ${shortMonth}(,${shortMonth})*`,
] as const
/** A CEL rule: whether a schedule without a weekday has a day that one of its months has. */
export const occurs = noSuchDay
  .map((days) => `!self.matches('^[0-9]+ [^ ]+ ${days} [*]$')`)
  .join(' && ')

/** A field of a schedule: values, ranges and steps, separated by commas. */
const cronField = (value: string) => {
  const item = `([*]|${value}(-${value})?)(/[0-9]{1,2})?`
  return `${item}(,${item})*`
}
const cronFields = [
  '[0-5]?[0-9]',
  cronField('([01]?[0-9]|2[0-3])'),
  cronField('(0?[1-9]|[12][0-9]|3[01])'),
  cronField('(0?[1-9]|1[0-2]|[A-Za-z]{3})'),
  cronField('(0?[0-7]|[A-Za-z]{3})'),
]
/** A CEL rule: whether each field of a schedule has only values that there are. */
export const hasValidFields = `self.matches('^${cronFields.join(' ')}$')`
