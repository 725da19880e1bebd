import { BoundedCache } from '../../kernel/bounded-cache.ts'

/**
 * Tables whose rows are bookkeeping of the service. A call that writes only to them changes
 * nothing, and its commits do not write the record of the call.
 */
const bookkeeping = new Set([
  'idempotency_keys',
  'sign_in_counts',
  'sign_in_networks',
  'signing_keys',
  'used_sign_ins',
  'audit_keys',
  'audit_reads',
  'audit_read_batches',
])

/**
 * Words after `update` that are not tables: in locks (`update of`, …) and upserts (`update set`).
 */
const noTables = new Set(['of', 'set', 'skip', 'nowait'])

const writes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?"?([a-z_]+)"?/gi

/** Earlier answers of `isChange`. To search a statement takes about 10 µs. */
const known = new BoundedCache<string, boolean>(500)
const maxKnownLength = 4_000

/** Returns whether a statement writes to a table that is not bookkeeping. */
export function isChange(sql: string): boolean {
  if (sql.length > maxKnownLength) return writesTable(sql)
  let answer = known.get(sql)
  if (answer === undefined) {
    answer = writesTable(sql)
    known.set(sql, answer)
  }
  return answer
}

function writesTable(sql: string): boolean {
  for (const [, table = ''] of sql.matchAll(writes)) {
    const name = table.toLowerCase()
    if (!noTables.has(name) && !bookkeeping.has(name)) return true
  }
  return false
}
