import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { isUuid, newId, traceIdFrom } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { type Caller, requesterOf } from '../../../platform/http/index.ts'
import { type CapturePolicy, type Masker, maskText } from '../../records/capture/index.ts'
import type { FeedbackSource } from '../votes/vote.ts'
import type { ItemValue, NewItem } from './change-items.ts'
import type { CreateFeedback, EditFeedback } from './feedback-record.ts'

/** The request of an item, with the settings that decide how it is stored. */
export type ItemRequest = {
  caller: Caller
  task_id: string
  body: CreateFeedback
  policy: CapturePolicy
  /** Tag of the client network. */
  network_tag: number
  now_ms: number
}

/**
 * Converts a request to an item, masked by the capture policy. Throws `invalid_request` for fields
 * that its source cannot have, and `permission_denied` if a browser key sends another source.
 */
export function readNewItem(request: ItemRequest): NewItem {
  const { caller, body, policy, now_ms } = request
  const by_browser = caller.browser !== undefined
  const source = sourceOf(caller, body)
  checkFields(body, source, caller)
  const mask = maskOf(policy)
  const actor = requesterOf(caller)
  const user_id = body.user_id === undefined ? null : mask(body.user_id)
  const author = body.author === undefined ? actor : mask(body.author)
  const value = readValue(body, policy)
  const subject =
    source === 'end_user' ? (user_id === null ? '' : `user:${user_id}`) : `by:${author}`
  const { trace_id = null, feedback_id = newId() } = body
  const sent = { source, subject, trace_id, at: body.at ?? null, value }
  return {
    project_id: caller.project_id,
    task_id: taskNamedBy(caller, mask(request.task_id)),
    feedback_id: by_browser ? feedback_id.toLowerCase() : feedback_id,
    source,
    subject,
    user_id,
    trace_id,
    by_browser,
    actor,
    value,
    network_tag: by_browser ? request.network_tag : null,
    ...timeOf(body.at, { now_ms, by_browser }),
    body_digest: hash('sha256', canonicalJson(sent), 'buffer'),
  }
}

/**
 * Returns the id by which a call names a task. Browser keys name a trace in one spelling: the answer
 * to a second one would otherwise show whether the task was seen, and items that wait under other
 * spellings would not count together.
 */
export function taskNamedBy({ browser }: Caller, task_id: string): string {
  return browser === undefined ? task_id : (traceIdFrom(task_id) ?? task_id)
}

function sourceOf({ kind, browser }: Caller, { source }: CreateFeedback): FeedbackSource {
  if (browser !== undefined && source !== undefined && source !== 'end_user') {
    throw problem('permission_denied', {
      detail: `source: got "${source}", but a browser key can only send feedback of end users`,
    })
  }
  return source ?? (kind === 'user' ? 'annotator' : 'end_user')
}

function checkFields(body: CreateFeedback, source: FeedbackSource, caller: Caller): void {
  if (source === 'end_user') {
    if (body.author !== undefined) throw invalid('author', 'end users have no author; use user_id')
    refuseGivenSentiment(body, source)
  } else if (caller.kind === 'user' && body.author !== undefined) {
    throw invalid('author', 'a signed-in person is the author')
  }
  const { browser } = caller
  if (browser !== undefined && body.feedback_id !== undefined && !isUuid(body.feedback_id)) {
    throw invalid(
      'feedback_id',
      'with a browser key expected a random UUID, which others cannot guess',
    )
  }
}

/** Throws `invalid_request` for an end user's item with a sentiment, which is always derived. */
export function refuseGivenSentiment({ sentiment }: EditFeedback, source: FeedbackSource): void {
  if (source !== 'end_user' || sentiment === undefined) return
  throw invalid('sentiment', 'the sentiment of end users is derived; send thumbs or a rating')
}

function invalid(field: string, detail: string): Error {
  return problem('invalid_request', {
    detail: `/${field}: ${detail}`,
    faults: [{ pointer: `/${field}`, detail }],
  })
}

/** Returns the values as the capture policy allows them. Without content there are no texts. */
export function readValue(body: EditFeedback, policy: CapturePolicy): ItemValue {
  const { masker, content } = policy
  const mask = maskOf(policy)
  const kept = (text: string | undefined) =>
    text === undefined || content !== 'full' ? null : mask(text)
  const { rating = null, thumbs = null, labels = [], sentiment = null, metadata = {} } = body
  return {
    rating,
    thumbs,
    sentiment,
    labels: labels.map(mask),
    comment: kept(body.comment),
    correction: kept(body.correction),
    metadata: content === 'full' ? maskMetadata(metadata, masker) : {},
  }
}

/** Returns a function that masks a text; ids too, so that they match the ids of stored tasks. */
export function maskOf({ masker }: CapturePolicy): (text: string) => string {
  return (text) => (masker === undefined ? text : maskText(text, masker))
}

function maskMetadata(
  metadata: Readonly<Record<string, string>>,
  masker: Masker | undefined,
): Record<string, string> {
  if (masker === undefined) return { ...metadata }
  const entries = Object.entries(metadata).map(([key, text]) => [
    maskText(key, masker),
    masker.replacementOf(key) ?? maskText(text, masker),
  ])
  return Object.fromEntries(entries)
}

const day_ms = 24 * 60 * 60 * 1000
/** Maximum age of a time that a client sends: from servers, and from browsers. */
const back_ms_max = { server: 30 * day_ms, browser: day_ms }
/** Maximum time by which the clock of a client may be ahead. */
const ahead_ms_max = 5 * 60 * 1000

/** Returns the time of an item: the client's time if plausible, otherwise now. */
function timeOf(
  at: string | undefined,
  { now_ms, by_browser }: { now_ms: number; by_browser: boolean },
): { at: string; time_adjusted: boolean } {
  const given_ms = at === undefined ? now_ms : Date.parse(at)
  const first_ms = now_ms - back_ms_max[by_browser ? 'browser' : 'server']
  const time_adjusted = given_ms < first_ms || given_ms > now_ms + ahead_ms_max
  const used_ms = time_adjusted ? now_ms : Math.min(given_ms, now_ms)
  return { at: new Date(used_ms).toISOString(), time_adjusted }
}
