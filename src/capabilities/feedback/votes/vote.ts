import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import type { Sentiment } from './sentiment.ts'

/** Who gave feedback. Sources are never mixed in one rate. */
export const feedbackSources = ['end_user', 'annotator', 'rule'] as const
export type FeedbackSource = (typeof feedbackSources)[number]

/** An item that may count as the vote of its subject. */
export type Candidate = {
  feedback_id: string
  source: FeedbackSource
  /** The subject whose opinion it is, within task and source. */
  subject: string
  /** Null for an item without a sentiment. */
  sentiment: Sentiment | null
  labels: readonly string[]
  /** ISO 8601: the time of the feedback, by which rates count it. */
  at: string
  by_browser: boolean
  /** ISO 8601 with milliseconds: the last change. */
  updated_at: string
}

/** An item that counts. */
export type Vote = Candidate & { sentiment: Sentiment }

/**
 * Returns the item that counts for one subject: the last changed item with a sentiment. Items of
 * servers and people take precedence over items of browser keys, because a browser key can send
 * items for any user.
 */
export function chooseVote(items: readonly Candidate[]): Vote | undefined {
  let best: Vote | undefined
  for (const item of items) {
    if (isVote(item) && (best === undefined || comesBefore(item, best))) best = item
  }
  return best
}

function isVote(item: Candidate): item is Vote {
  return item.sentiment !== null
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  if (a.by_browser !== b.by_browser) return b.by_browser
  if (a.updated_at !== b.updated_at) return a.updated_at > b.updated_at
  return a.feedback_id > b.feedback_id
}

/** The values of a task under which its votes are counted. */
export type TaskValues = {
  task_name: string | null
  environment: string | null
  release: string | null
  models: readonly string[]
}

/** A change of the votes of a task: one vote is added or removed. */
export type VoteChange = { vote: Vote; by: 1 | -1 }

/** A change of the counts of an hour. */
export type HourChange = {
  source: FeedbackSource
  dimension: 'all' | 'task_name' | 'release' | 'model' | 'label'
  hour: string
  environment: string
  value: string
  negative: number
  neutral: number
  positive: number
}

/** Maximum characters of a value in the counts; longer ones are cut. */
const value_chars_max = 256

/**
 * Returns the changes of hourly counts, in the order of their keys, so that two transactions lock
 * rows in the same order. Changes that cancel each other out are left out. Tasks of onboarding are
 * not counted. Labels of browser keys are not counted, because any visitor could create rows.
 */
export function hourChanges(task: TaskValues, changes: readonly VoteChange[]): HourChange[] {
  if (task.environment === scenarioEnvironment) return []
  const byKey = new Map<string, HourChange>()
  for (const { vote, by } of changes) {
    for (const [dimension, value] of valuesOf(task, vote)) {
      const key = { source: vote.source, dimension, hour: hourOf(vote.at) }
      const row = { ...key, environment: cut(task.environment), value: cut(value) }
      const id = JSON.stringify(Object.values(row))
      const known = byKey.get(id) ?? { ...row, negative: 0, neutral: 0, positive: 0 }
      known[vote.sentiment] += by
      byKey.set(id, known)
    }
  }
  return [...byKey]
    .filter(
      ([, { negative, neutral, positive }]) => negative !== 0 || neutral !== 0 || positive !== 0,
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change)
}

function valuesOf(task: TaskValues, vote: Vote): [HourChange['dimension'], string | null][] {
  return [
    ['all', ''],
    ['task_name', task.task_name],
    ['release', task.release],
    ...task.models.map((model): ['model', string] => ['model', model]),
    ...(vote.by_browser ? [] : vote.labels).map((label): ['label', string] => ['label', label]),
  ]
}

function cut(value: string | null): string {
  return (value ?? '').slice(0, value_chars_max).toWellFormed()
}

/** Returns the start of the hour of an instant, in UTC. */
export function hourOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 13)}:00:00.000Z`
}
