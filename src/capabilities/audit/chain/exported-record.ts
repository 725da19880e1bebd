import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { actorKinds, auditOutcomes, callPaths } from '../../../model/audit-entry.ts'
import type { SealedRead } from './segment.ts'
import type { RecordWithDetails } from './verify-chain.ts'

/** A line of `GET /api/v2/audit/export`: a record, and the reads that it seals. */
export type ExportedRecord = RecordWithDetails & { reads?: SealedRead[] | undefined }

/** Halves of surrogate pairs have the bytes of U+FFFD, so that a hash does not tell them apart. */
const text = z.string().refine((value) => value.isWellFormed())
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const detail = z.strictObject({ salt: text, value: text })

const readSchema = z.strictObject({
  read_at: text,
  action: text,
  actor_kind: z.enum(actorKinds),
  actor_id: text,
  via: z.enum(callPaths),
  resource_type: text,
  resource_id: text.nullable(),
  project_id: text.nullable(),
  request_id: text,
  origin_hash: hash,
  details: z.strictObject({ origin: detail.exactOptional() }),
})

const recordSchema = z.strictObject({
  chain_id: text,
  seq: z.int().positive(),
  recorded_at: text,
  action: text,
  outcome: z.enum(auditOutcomes),
  code: text.nullable(),
  actor_kind: z.enum(actorKinds),
  actor_id: text.nullable(),
  via: z.enum(callPaths),
  resource_type: text,
  resource_id: text.nullable(),
  project_id: text.nullable(),
  request_id: text,
  suppressed: z.int(),
  segment_count: z.int().nullable(),
  segment_hash: hash.nullable(),
  origin_hash: hash.nullable(),
  change_hash: hash.nullable(),
  hash,
  details: z.strictObject({ origin: detail.exactOptional(), change: detail.exactOptional() }),
  reads: z.array(readSchema).optional(),
})

/**
 * Reads a line of an export. Returns undefined for a line with an unknown, missing or repeated
 * field, or a value of another type: no hash protects it, and other readers may show it.
 */
export function readExportedRecord(line: string): ExportedRecord | undefined {
  const value = parsedJson(line)
  const read = recordSchema.safeParse(value)
  if (!read.success || countQuotes(line) !== 2 * countTexts(value)) return undefined
  return read.data
}

/** Counts the quotes around keys and texts in JSON. */
function countQuotes(json: string): number {
  return json.replace(/\\./g, '').split('"').length - 1
}

/** Counts the keys and texts in a parsed value, in which a repeated key counts once. */
function countTexts(value: unknown): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value).reduce((sum: number, item) => sum + countTexts(item), 0)
  return items + (Array.isArray(value) ? 0 : Object.keys(value).length)
}
