import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { expected } from '../../model/list-query.ts'
import type { Finding } from '../detection/index.ts'
import type { RunDeps } from '../query/index.ts'
import type { RecordStore } from '../storage/index.ts'

/** The dependencies of the routes of traces. */
export type TraceDeps = {
  records: RecordStore
  queries: RunDeps
  findings: ReadFindings
  /** Maximum observations of one tree; default `maxTraceRows`. */
  rows_max?: number
}

/** Returns all findings of tasks of a project. */
export type ReadFindings = (of: {
  project_id: string
  task_ids: readonly string[]
}) => Promise<readonly Finding[]>

/** The path of one trace. Reads its id, with or without hyphens, as a lower-case UUID. */
export const tracePath = z.strictObject({
  trace_id: z
    .string()
    .transform((text, context): string => {
      const uuid = traceIdFrom(text)
      if (uuid !== undefined) return uuid
      context.addIssue({
        code: 'custom',
        message: expected('a UUID or 32 hex digits')({ input: text }),
      })
      return z.NEVER
    })
    .meta({ type: 'string', description: 'W3C trace id: 32 hex digits, or a UUID.' }),
})

/**
 * Checks that a trace with an empty list exists. Throws `trace_not_found` if the project has no
 * records of the trace, and `store_unavailable`.
 */
export async function checkTraceExists(
  records: Pick<RecordStore, 'traceExists'>,
  projectId: string,
  traceId: string,
): Promise<void> {
  if (await records.traceExists(projectId, traceId)) return
  throw problem('trace_not_found', {
    detail: `trace_id: got "${traceId}", expected a trace with stored records`,
  })
}
