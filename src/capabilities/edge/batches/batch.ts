import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import type { RequestHeaders } from '../../../platform/http/index.ts'
import {
  namedRecords,
  type RecordKind,
  recordKinds,
  type SchemaVersion,
  schemaVersionNamed,
} from '../../records/schema/index.ts'
import { readW3c, type W3cContext } from './w3c-context.ts'

/** Maximum records of all kinds in one batch. */
const items_max = 50_000

/** A batch with a valid envelope; its records are not validated yet. */
export type Batch = {
  /** Undefined when the client sent none. */
  idempotency_key: string | undefined
  schema: SchemaVersion
  lists: Record<RecordKind, readonly unknown[]>
  items: number
  /** From its fields, and from the headers where a field is absent. */
  w3c: W3cContext
  /** From its fields alone, because a repeated batch may have other headers. */
  w3c_of_body: W3cContext
}

/** The schema of a batch. Its records are validated one by one, so that valid ones are accepted. */
export const batchSchema = record('IngestRequest', {
  idempotency_key: z
    .string()
    .optional()
    .describe(
      '1 to 256 printable characters; also accepted as header `Idempotency-Key`. The same batch ' +
        'under the same key is stored once within 7 days. By default derived from the id of the ' +
        'request, so that a repeated call is a new request.',
    ),
  schema_version: z
    .string()
    .optional()
    .describe('Schema version of the records, by default the newest active one.'),
  traces: recordList('traces'),
  observations: recordList('observations'),
  events: recordList('events'),
  links: recordList('links'),
  correlations: recordList('correlations'),
  traceparent: w3cText('w3c_traceparent'),
  tracestate: w3cText('w3c_tracestate'),
  baggage: w3cText('w3c_baggage'),
})

/** Reads the envelope and the headers that belong to it. Throws 400 for an invalid envelope. */
export function batchFrom(body: z.output<typeof batchSchema>, headers: RequestHeaders): Batch {
  const lists = {
    traces: body.traces ?? [],
    observations: body.observations ?? [],
    events: body.events ?? [],
    links: body.links ?? [],
    correlations: body.correlations ?? [],
  }
  const items = recordKinds.reduce((sum, kind) => sum + lists[kind].length, 0)
  if (items > items_max) {
    throw refused('', `got ${items} records, expected at most ${items_max} in one batch`)
  }
  return {
    idempotency_key: keyFrom(body.idempotency_key, headers['idempotency-key']),
    schema: schemaVersionNamed(body.schema_version),
    lists,
    items,
    w3c: readW3c(body, headers),
    w3c_of_body: readW3c(body, noHeaders),
  }
}

const noHeaders: RequestHeaders = {}
const keyPattern = /^[^\p{C}]{1,256}$/u

function keyFrom(
  inBody: string | undefined,
  inHeader: string | string[] | undefined,
): string | undefined {
  const header = Array.isArray(inHeader) ? inHeader.join(', ') : inHeader
  if (inBody !== undefined && header !== undefined && inBody !== header) {
    throw refused('/idempotency_key', 'differs from the header Idempotency-Key')
  }
  const key = inBody ?? header
  if (key === undefined || keyPattern.test(key)) return key
  throw refused('/idempotency_key', 'expected 1 to 256 printable characters')
}

function refused(pointer: string, detail: string) {
  return problem('invalid_request', {
    detail: `${pointer || 'body'}: ${detail}`,
    faults: [{ pointer, detail }],
  })
}

function recordList(kind: RecordKind) {
  return z.array(documentedAs(z.unknown(), namedRecords[kind])).max(items_max).optional()
}

function w3cText(type: string) {
  return z
    .string()
    .max(8192)
    .nullish()
    .describe(
      `Kept as a correlation \`${type}\` of each trace; by default the header of this name.`,
    )
}
