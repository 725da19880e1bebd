import { z } from 'zod'

/** What replies about records have in common: the fields, and how a list tells of its pages. */
export const recordFields = {
  trace_id: z.guid().describe('The W3C trace id, as a UUID.'),
  observation_id: z
    .string()
    .nullable()
    .describe('The observation it belongs to; null when that is the trace.'),
  time: z.iso.datetime({ offset: false }).describe('ISO 8601, UTC, up to nanoseconds.'),
  source: z.enum(['proxy', 'otlp', 'api']).describe('The way it came in.'),
}

/** Beside the items of a page. */
export const pageFields = {
  total: z.int().nonnegative().describe('How many the filters let through.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: there are more than `total`. Left out when `total` is exact.'),
  next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
}

/** Stored text, of which '' says that there is none. */
export function textOrNull(text: string): string | null {
  return text === '' ? null : text
}
