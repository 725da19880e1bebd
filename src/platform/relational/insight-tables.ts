import type { ByDefault, Instant } from './column-types.ts'

/** The tables of statistics of feedback and of the review queue, for `Kysely<InsightTables>`. */
export interface InsightTables {
  rated_tasks: RatedTasksTable
  rated_task_counts: RatedTaskCountsTable
  rated_tasks_due: { project_id: string; task_id: string; marks: ByDefault<number> }
  task_day_counts: TaskDayCountsTable
  review_claims: ReviewClaimsTable
  review_labels: ReviewLabelsTable
  review_finding_labels: ReviewFindingLabelsTable
}

type Source = 'end_user' | 'annotator' | 'rule'

/** A task with votes of a source, and its features. */
interface RatedTasksTable {
  project_id: string
  source: Source
  task_id: string
  /** Id of the task; `task_id` may be another spelling of it. */
  task_ref: string
  /** Time of its last vote. */
  at: Instant
  /** Group of correlated votes: `user:<id>`, `conversation:<id>` or `task:<id>`. */
  cluster: string
  /** 0–63, by a hash of the cluster. */
  bucket: number
  /** At least half of its votes are negative. */
  is_negative: boolean
  votes: number
  negative_votes: number
  /** At most 64 features, such as `tool:search`. */
  features: string[]
}

/** Sums of rated tasks by day of the last vote, feature and bucket. */
interface RatedTaskCountsTable {
  project_id: string
  source: Source
  /** `YYYY-MM-DD`, UTC. */
  day: string
  /** Empty for all tasks. */
  feature: string
  bucket: number
  tasks: number
  negative_tasks: number
  votes: number
  negative_votes: number
}

/** Tasks that started on a day, and those of them with votes of end users, by feature. */
interface TaskDayCountsTable {
  project_id: string
  day: string
  feature: string
  tasks: number
  rated: number
  counted_at: Instant
}

/** A task that a reviewer works on, or skipped. */
interface ReviewClaimsTable {
  project_id: string
  task_id: string
  /** `user:<id>` or `service_account:<id>`. */
  reviewer: string
  state: 'claimed' | 'skipped'
  until: Instant
}

/** The label of a task by a reviewer. */
interface ReviewLabelsTable {
  project_id: string
  task_id: string
  reviewer: string
  label: 'correct' | 'incorrect' | 'partly' | 'unclear'
  /** Starts at 1 and grows with each change. */
  version: ByDefault<number>
  created_at: Instant
  updated_at: Instant
}

/** A reviewer's verdict on a finding. */
interface ReviewFindingLabelsTable {
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
