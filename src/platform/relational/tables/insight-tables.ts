import type { ByDefault, Instant } from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface InsightTables {
  rated_task_counts: {
    project_id: string
    source: 'end_user' | 'annotator' | 'rule'
    day: string
    feature: string
    bucket: number
    tasks: number
    negative_tasks: number
    votes: number
    negative_votes: number
  }
  rated_tasks: {
    project_id: string
    source: 'end_user' | 'annotator' | 'rule'
    task_id: string
    task_ref: string
    at: Instant
    cluster: string
    bucket: number
    is_negative: boolean
    votes: number
    negative_votes: number
    features: string[]
  }
  rated_tasks_due: {
    project_id: string
    task_id: string
    marks: ByDefault<number>
  }
  review_claims: {
    project_id: string
    task_id: string
    reviewer: string
    state: 'claimed' | 'skipped'
    until: Instant
  }
  review_finding_labels: {
    project_id: string
    task_id: string
    reviewer: string
    finding_id: string
    detector: string
    detector_version: number
    type: string
    is_right: boolean
    updated_at: Instant
  }
  review_labels: {
    project_id: string
    task_id: string
    reviewer: string
    label: 'correct' | 'incorrect' | 'partly' | 'unclear'
    version: ByDefault<number>
    created_at: Instant
    updated_at: Instant
  }
  task_day_counts: {
    project_id: string
    day: string
    feature: string
    tasks: number
    rated: number
    counted_at: Instant
  }
}
