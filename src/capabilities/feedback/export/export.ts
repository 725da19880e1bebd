import { z } from 'zod'
import { toJsonLine } from '../../../kernel/json-lines.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import {
  cursorParameter,
  flagParameter,
  instantParameter,
  integerParameter,
  isoWindow,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, linesMediaType, type Route } from '../../../platform/http/index.ts'
import { type InsightDeps, labelReadScope } from '../contract.ts'
import { labelSchema, toLabel } from '../review/labels.ts'
import { labelsOfTasks } from '../review/labels-store.ts'
import { findExported, findings_max, items_max, readExported } from './export-store.ts'

const list = 'feedback export'
/** Characters after which a page ends, so that long comments do not make it huge. */
const maxPageChars = 8_000_000
/** Tasks of one read. */
const chunk_tasks = 50

const exportedTask = record('ExportedTask', {
  task_id: z.string(),
  name: z.string(),
  user_id: z.string().nullable(),
  conversation_id: z.uuid().nullable(),
  state: z.string(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  environment: z.string().nullable(),
  release: z.string().nullable(),
  models: z.array(z.string()),
  tools: z.array(z.string()),
  trust_score: z.number().nullable(),
  trace_ids: z
    .array(z.string())
    .describe('Traces of its feedback, findings and verifications, at most 1,000.'),
  findings: z
    .array(
      record('ExportedFinding', {
        finding_id: z.uuid(),
        detector: z.string(),
        type: z.string(),
        severity: z.string(),
      }),
    )
    .max(findings_max),
  feedback: z
    .array(
      record('ExportedFeedback', {
        feedback_id: z.string(),
        source: z.string(),
        sentiment: z.string().nullable(),
        rating: z.int().nullable(),
        thumbs: z.string().nullable(),
        labels: z.array(z.string()),
        comment: z.string().nullable(),
        correction: z.string().nullable(),
        counts: z.boolean(),
        at: z.iso.datetime(),
      }),
    )
    .max(items_max)
    .describe('The newest 100 items, oldest first.'),
  labels: z.array(labelSchema).describe('Labels of reviewers.'),
})

/**
 * GET /api/v1/feedback/export: tasks with feedback or labels, in order of their ids. Clients that
 * accept `application/x-ndjson` get one line per task, and the cursor in the header
 * `X-Next-Cursor`.
 */
export function exportFeedback({ db }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/export',
    id: 'exportFeedback',
    summary: 'Tasks with their feedback and labels, as JSON or NDJSON',
    audit: 'content',
    auth: 'jwt',
    scope: labelReadScope,
    lines: 'if_accepted',
    query: z.strictObject({
      from: instantParameter('Only tasks that started at or after this instant.'),
      to: instantParameter('Only tasks that started before this instant.'),
      labelled: flagParameter('`true`: only tasks with a label of a reviewer.'),
      limit: integerParameter({
        minimum: 1,
        maximum: 1_000,
        default: 200,
        description: 'Maximum tasks of a page; a page also ends after 8 million characters.',
      }),
      cursor: cursorParameter,
    }),
    reply: record('FeedbackExport', {
      tasks: z.array(exportedTask),
      next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, labelled = false, ...window }, caller, headers }) => {
      const { project_id } = caller
      const filter = { project_id, ...isoWindow(window), labelled }
      const after = cursor === undefined ? '' : taskIn(cursor)
      const ids = await findExported(db, { ...filter, after, limit: limit + 1 })
      const tasks = await readPage({ db }, project_id, ids.slice(0, limit))
      const last = tasks.at(-1)
      const isMore = last !== undefined && ids.at(-1) !== last.task_id
      const page = { tasks, next_cursor: isMore ? encodeCursor(list, [last.task_id]) : null }
      if (!String(headers['accept']).includes(linesMediaType)) return page
      const text = tasks.map(toJsonLine).join('')
      return new Answer(page, {
        content: { media_type: linesMediaType, text },
        headers: page.next_cursor === null ? {} : { 'X-Next-Cursor': page.next_cursor },
      })
    },
  })
}

function taskIn(cursor: string): string {
  const [task_id] = decodeCursor(list, cursor, 1)
  if (typeof task_id === 'string' && !task_id.includes('\u0000')) return task_id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected an unchanged next_cursor`,
  })
}

type ExportLine = z.input<typeof exportedTask>

/**
 * Reads chunks of tasks until the page is full. Each page has a chunk, so that it makes progress.
 */
async function readPage(
  { db }: Pick<InsightDeps, 'db'>,
  project_id: string,
  ids: readonly string[],
): Promise<ExportLine[]> {
  const lines: ExportLine[] = []
  let chars = 0
  for (let at = 0; at < ids.length && chars < maxPageChars; at += chunk_tasks) {
    const chunk = ids.slice(at, at + chunk_tasks)
    const [tasks, labels] = await Promise.all([
      readExported(db, project_id, chunk),
      labelsOfTasks(db, project_id, chunk),
    ])
    const byTask = Map.groupBy(labels, ({ task_id }) => task_id)
    for (const task of tasks) {
      if (chars >= maxPageChars) break
      const line = { ...task, labels: (byTask.get(task.task_id) ?? []).map(toLabel) }
      chars += JSON.stringify(line).length
      lines.push(line)
    }
  }
  return lines
}
