import { z } from 'zod'
import { anyTraceIdPattern, traceIdFrom } from '../../../kernel/ids.ts'
import { expected, isStorable } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { sentiments } from '../votes/sentiment.ts'
import { feedbackSources } from '../votes/vote.ts'
import type { FeedbackRow } from './items-store.ts'

/** Maximum characters of a comment, and of a correction. */
const text_chars_max = 10_000
const labels_max = 20
const metadata_max = 20
const id_chars_max = 256

/** Id of an item in paths and bodies. */
export const feedbackIdField = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/, {
    error: expected('1 to 128 letters, digits or `_.:-`, not starting with a sign'),
  })
  .meta({ id: 'FeedbackId' })

const sentimentField = z.enum(sentiments).meta({ id: 'Sentiment' })
const sourceField = z.enum(feedbackSources).meta({ id: 'FeedbackSource' })
const thumbsField = z.enum(['up', 'down']).meta({ id: 'Thumbs' })
const ratingField = z.int().min(1).max(5)
const idText = z
  .string()
  .min(1)
  .max(id_chars_max, { error: `expected at most ${id_chars_max} characters` })
const longText = z
  .string()
  .min(1)
  .max(text_chars_max, {
    error: `expected at most ${text_chars_max.toLocaleString('en')} characters`,
  })
const labelsField = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9 _.:/-]{0,63}$/, {
        error:
          'expected 1 to 64 letters, digits, spaces or `_.:/-`, starting with a letter or digit',
      })
      .meta({ id: 'FeedbackLabel' }),
  )
  .max(labels_max, { error: `expected at most ${labels_max} labels` })
const metadataField = z
  .record(z.string().min(1).max(64), z.string().max(id_chars_max))
  .refine((value) => Object.keys(value).length <= metadata_max, {
    error: `expected at most ${metadata_max} entries`,
  })

/** The fields of an item that can be edited. */
const valueFields = {
  rating: ratingField.optional().describe('Rating, 1 (worst) to 5 (best).'),
  thumbs: thumbsField.optional(),
  labels: labelsField
    .transform((labels) => [...new Set(labels)])
    .optional()
    .describe('At most 20 labels of at most 64 characters, such as `incorrect`.'),
  comment: longText.optional().describe('Text of at most 10,000 characters.'),
  correction: longText.optional().describe('The correct answer, at most 10,000 characters.'),
  sentiment: sentimentField
    .optional()
    .describe(
      'Sentiment. Only annotators and rules can set it. Default: derived from the other fields.',
    ),
  metadata: metadataField
    .optional()
    .describe('At most 20 texts of at most 256 characters, by names of at most 64.'),
}

type Value = { [field in keyof typeof valueFields]?: unknown }

const judging = ['rating', 'thumbs', 'labels', 'comment', 'correction', 'sentiment'] as const

function saysNothing(value: Value): boolean {
  return judging.every((field) => {
    const given = value[field]
    return given === undefined || (Array.isArray(given) && given.length === 0)
  })
}

const somethingSaid = {
  error: 'expected at least one of rating, thumbs, labels, comment, correction',
}

/** Body of POST feedback. */
export const createFeedbackBody = z
  .strictObject({
    feedback_id: feedbackIdField
      .optional()
      .describe(
        'Id of the item within the task. The same id with the same body returns the first item. Must be a UUID with a browser key. Left out: a new UUID.',
      ),
    source: sourceField
      .optional()
      .describe('Default: `annotator` for a signed-in person, `end_user` for a key.'),
    user_id: idText.optional().describe('The end user who gave the feedback.'),
    author: idText
      .optional()
      .describe('Name of the annotator or rule that a key speaks for. Not for end users.'),
    trace_id: z
      .string()
      .regex(new RegExp(anyTraceIdPattern))
      .transform((text) => traceIdFrom(text) ?? text)
      .optional()
      .describe('Trace that the feedback is about.'),
    at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'Time of the feedback. Default: the time of receipt, which also replaces a time more than 30 days in the past (24 hours with a browser key) or more than 5 minutes in the future; see `time_adjusted`.',
      ),
    ...valueFields,
  })
  .refine((body) => !saysNothing(body), somethingSaid)
  .superRefine(refuseUnstorable)
  .meta({ id: 'CreateFeedbackRequest' })
export type CreateFeedback = z.output<typeof createFeedbackBody>

/** Body of PUT feedback: all editable fields; a field that is left out is removed. */
export const editFeedbackBody = z
  .strictObject(valueFields)
  .refine((body) => !saysNothing(body), somethingSaid)
  .superRefine(refuseUnstorable)
  .meta({ id: 'EditFeedbackRequest' })
export type EditFeedback = z.output<typeof editFeedbackBody>

/** The values of an item in replies. */
const shownValue = {
  rating: ratingField.nullable(),
  thumbs: thumbsField.nullable(),
  labels: z.array(z.string()),
  comment: z.string().nullable(),
  correction: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  sentiment: sentimentField
    .nullable()
    .describe('Sentiment, set or derived. null: the item rates nothing, such as a comment alone.'),
}

const instantField = z.iso.datetime()

/** An item of feedback in replies. */
export const feedbackSchema = record('Feedback', {
  feedback_id: feedbackIdField,
  task_id: z.string(),
  source: sourceField,
  user_id: z.string().nullable().describe('The end user.'),
  author: z
    .string()
    .nullable()
    .describe('Annotator or rule: a name, or `user:<id>`, `key:<id>`. null for end users.'),
  trace_id: z.guid().nullable(),
  state: z
    .enum(['pending', 'attached', 'withdrawn', 'accepted'])
    .meta({ id: 'FeedbackState' })
    .describe(
      '`pending`: the task has no calls yet; the item is dropped after 24 hours. `accepted`: pending or attached; a browser key does not learn which.',
    ),
  ...shownValue,
  counts: z
    .boolean()
    .nullable()
    .describe(
      'Whether rates count the item as the vote of its user or author. null: not shown to a browser key.',
    ),
  at: instantField.describe('Time of the feedback, by which rates count it.'),
  time_adjusted: z.boolean().describe('Whether the time of receipt replaced `at` of the request.'),
  version: z.int().positive(),
  created_at: instantField,
  created_by: z.string().describe('`user:<id>`, `key:<id>` or `service_account:<id>`.'),
  updated_at: instantField,
  updated_by: z.string(),
})
export type FeedbackRecord = z.input<typeof feedbackSchema>

/** A change of an item in replies. */
export const revisionSchema = record('FeedbackRevision', {
  version: z.int().positive(),
  action: z.enum(['created', 'edited', 'withdrawn']).meta({ id: 'FeedbackAction' }),
  at: instantField,
  actor: z.string().describe('`user:<id>`, `key:<id>` or `service_account:<id>`.'),
  value: record('FeedbackValue', shownValue).describe('The item after the change.'),
})

/** Shapes a stored item for a reply. */
export function toFeedback(row: FeedbackRow): FeedbackRecord {
  const {
    subject,
    by_browser: _browser,
    body_digest: _digest,
    network_tag: _tag,
    project_id: _project,
    ...shown
  } = row
  return { ...shown, author: row.source === 'end_user' ? null : subject.slice('by:'.length) }
}

/**
 * Shapes a stored item for a browser key, which anybody can read. `task_id` is the one that the
 * request names. The reply does not show whether the task was seen.
 */
export function toBrowserFeedback(row: FeedbackRow, task_id: string): FeedbackRecord {
  const state = row.state === 'withdrawn' ? 'withdrawn' : 'accepted'
  return { ...toFeedback(row), task_id, state, counts: null }
}

/** Query parameter of a browser key: the end user whose item it changes. */
export const endUserParameter = z
  .string()
  .min(1)
  .max(id_chars_max)
  .refine(isStorable, { error: expected('text without U+0000') })
  .optional()
  .describe('End user of the item. A browser key must name it if the item has one.')
