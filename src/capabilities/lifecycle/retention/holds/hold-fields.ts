import { z } from 'zod'
import { traceIdFrom } from '../../../../kernel/ids.ts'
import { expected, isStorable } from '../../../../model/list-query.ts'

/** What can be held: the whole of each trace that is or has it. */
export const kinds = ['trace', 'task', 'conversation', 'user'] as const

const value_chars_max = 256
const reason_chars_max = 1_000

/** What whoever places a hold says of it. */
export const holdFields = {
  kind: z.enum(kinds, { error: expected(kinds.join(', ')) }).meta({ id: 'LegalHoldKind' }),
  value: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(value_chars_max, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe('A conversation may be named by the X-Conversation-ID that the client sent.'),
  reason: z
    .string()
    .min(1, { error: expected('1 to 1,000 characters') })
    .max(reason_chars_max, { error: expected('at most 1,000 characters') })
    .refine(isStorable, { error: expected('text without U+0000') }),
}

/** A transform: the id of a trace as it is stored, whichever way it was spelled. */
export function withTraceId<Hold extends { kind: (typeof kinds)[number]; value: string }>(
  hold: Hold,
  context: z.RefinementCtx,
): Hold {
  if (hold.kind !== 'trace') return hold
  const value = traceIdFrom(hold.value)
  if (value !== undefined) return { ...hold, value }
  const message = expected('a trace id: a UUID or 32 hex digits')({ input: hold.value })
  context.addIssue({ code: 'custom', path: ['value'], message })
  return z.NEVER
}
