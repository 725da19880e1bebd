import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { expected } from '../../model/list-query.ts'
import type { RecordStore } from '../storage/index.ts'

/** The path of one trace, its id in either spelling, read as a UUID in lower case. */
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
    .meta({ type: 'string', description: 'The W3C trace id: 32 hex digits, or as a UUID.' }),
})

/**
 * A list of a trace has nothing: fine where something else of the trace is stored. Throws
 * `trace_not_found` when nothing is, or only in another project, and `store_unavailable`.
 */
export async function checkTraceExists(
  records: Pick<RecordStore, 'traceExists'>,
  projectId: string,
  traceId: string,
): Promise<void> {
  if (await records.traceExists(projectId, traceId)) return
  throw problem('trace_not_found', {
    detail: `trace_id: got "${traceId}", expected a trace of which something was recorded`,
  })
}
