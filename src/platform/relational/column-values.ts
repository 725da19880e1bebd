import type { Selectable } from 'kysely'
import type { TenantTables } from './tables/tenant-tables.ts'

/** Who chose a password. */
export type PasswordOrigin = NonNullable<Selectable<TenantTables['users']>['password_origin']>

/** Retention in days by kind of data; null keeps the data for ever. */
export type RetentionDays = {
  content: number | null
  observations: number | null
  traces: number | null
  events: number | null
}

/** Archives days older than `after_days`, at the times of a cron schedule in UTC. */
export type ArchiveSchedule = { enabled: boolean; after_days: number; schedule: string }

/** A mask of a capture policy. Either `pattern` or `keys` is null. */
export type StoredMask = {
  name: string
  pattern: string | null
  keys: readonly string[] | null
  replacement: string
}

/** A parameter of a saved query. */
export type StoredParameter = {
  name: string
  type: 'text' | 'texts' | 'uuid' | 'integer' | 'number' | 'boolean' | 'time'
  required: boolean
  default?: unknown
}

/** The verdict of detection on a whole task. */
export type TaskVerdict = {
  /** Findings that are not withdrawn, by severity. */
  findings: { [severity in 'info' | 'low' | 'medium' | 'high' | 'critical']: number }
  recovered: number
  root_cause: {
    finding_id: string
    type: string
    step: number | null
    /** Its first observation; absent in verdicts of earlier versions. */
    trace_id?: string | null
    observation_id?: string | null
    evidence: { readonly [key: string]: unknown }
  } | null
  summary: string
  detected_at: string
  /** Values of the answers; null if they were not checked, absent in verdicts of earlier versions. */
  values?: { checked: number; not_checked: number } | null
}
