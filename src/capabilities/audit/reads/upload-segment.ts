import { isUuid } from '../../../kernel/ids.ts'
import { type AuditTables, CompiledQuery, type Kysely } from '../../../platform/relational/index.ts'
import type { UnsealedRead } from './unsealed-reads.ts'

type Db = Kysely<AuditTables>

/** Returns the line of a read in a journal. */
export function toLine(chain_id: string, read: UnsealedRead): string {
  return `["${chain_id}",${JSON.stringify(read)}]\n`
}

/**
 * Stores the reads of a segment, one row for each chain, in one statement. A repeated upload stores
 * nothing: neither here, nor when the first one is sealed already (`sealReads`). Returns the number
 * of damaged lines, which are left out.
 */
export async function uploadSegment(
  db: Db,
  segment: { id: string; text: string },
): Promise<{ damaged: number }> {
  const chains = new Map<string, UnsealedRead[]>()
  // A last line without its end was being written when the process was killed: no answer followed.
  const lines = segment.text.split('\n').slice(0, -1)
  let damaged = 0
  for (const line of lines) {
    const parsed = parseLine(line)
    if (parsed === undefined) {
      damaged++
      continue
    }
    const [chain_id, read] = parsed
    const reads = chains.get(chain_id) ?? []
    chains.set(chain_id, reads)
    reads.push(read)
  }
  if (chains.size === 0) return { damaged }
  const rows = [...chains].flatMap(([chain_id, reads]) => [
    ...[chain_id, reads.length, JSON.stringify(reads)],
  ])
  await db.executeQuery(CompiledQuery.raw(uploadText(chains.size), [segment.id, ...rows]))
  return { damaged }
}

function uploadText(rows: number): string {
  const calls = Array.from({ length: rows }, (_, at) => {
    const first = at * 3 + 2
    return `store_audit_reads($1, $${first}, $${first + 1}, $${first + 2})`
  })
  return `select ${calls.join(', ')}`
}

/** Returns undefined for a damaged line, which a crash of the machine can leave. */
function parseLine(line: string): [chain_id: string, read: UnsealedRead] | undefined {
  try {
    const parsed = JSON.parse(line)
    return Array.isArray(parsed) && isUuid(String(parsed[0])) && isUuid(String(parsed[1]?.id))
      ? (parsed as [string, UnsealedRead])
      : undefined
  } catch {
    return undefined
  }
}
