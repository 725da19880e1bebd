import pg from 'pg'

/**
 * How values are read, handed to the pool alone: `pg.types.setTypeParser` would change them for
 * every user of pg in the process.
 */
export const relationalValueParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    const parser = format === 'binary' ? undefined : textParsers.get(oid)
    return parser ?? pg.types.getTypeParser(oid, format)
  },
}

const defaultInstant: (text: string) => unknown = pg.types.getTypeParser(
  pg.types.builtins.TIMESTAMPTZ,
  'text',
)

const textParsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, safeInteger],
  [pg.types.builtins.TIMESTAMPTZ, instant],
  // A date or a time without zone would be read in the zone of this machine.
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.TIMESTAMP, (text) => text],
])

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`bigint ${text}: expected at most 2^53 - 1, cast it to text to read it`)
  }
  return value
}

/** `infinity` and `-infinity` stay as they are written. */
function instant(text: string): string {
  const parsed = defaultInstant(text)
  return parsed instanceof Date ? parsed.toISOString() : text
}
