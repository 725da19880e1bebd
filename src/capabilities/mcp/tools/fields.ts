import { z } from 'zod'

/** Maximum items of a page of a tool, fewer than the API gives: an answer has to be read. */
const page_items_max = 50

/** Fields that several tools have. */
export const fields = {
  task_id: z.string().min(1).max(256).describe('Id of the task, as in list_tasks.'),
  trace_id: z.string().min(1).max(64).describe('Trace id: 32 hex digits, or a UUID.'),
  limit: z.int().min(1).max(page_items_max).default(20).describe('Maximum items, 1–50.'),
  cursor: z.string().min(1).max(2_000).optional().describe('next_cursor of the page before.'),
  from: z.string().max(64).optional().describe('Start of the time range, ISO 8601.'),
  to: z.string().max(64).optional().describe('End of the time range, ISO 8601.'),
  severity_min: z
    .enum(['info', 'low', 'medium', 'high', 'critical'])
    .optional()
    .describe('Least severity.'),
}

/** An optional text of a filter. */
export function filterText(about: string) {
  return z.string().min(1).max(256).optional().describe(about)
}

/** Writes a value as one step of a path. */
export function step(value: string): string {
  return encodeURIComponent(value)
}
