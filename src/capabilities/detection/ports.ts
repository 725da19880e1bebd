import type { Clock } from '../../kernel/time.ts'
import type { Severity } from '../../model/severity.ts'
import type { DetectionTables, Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore } from '../storage/index.ts'
import type { Evidence } from './contract.ts'

/** The database of findings and of the tasks they belong to. */
export type DetectionDb = Kysely<DetectionTables & TaskTables>

/** The fields of a finding that receivers of stored findings read. */
export type FindingContent = {
  finding_id: string
  kind: string
  type: string
  severity: Severity
  state: 'open' | 'recovered' | 'withdrawn'
  confidence: number
  summary: string
}

/** New and changed findings of a task, with their former content. */
export type StoredFindings = {
  project_id: string
  task_id: string
  findings: readonly { now: FindingContent; before: FindingContent | undefined }[]
}

/**
 * Called at the end of a transaction that stores findings. Returns what follows the commit.
 */
export type OnFindings = (trx: DetectionDb, stored: StoredFindings) => Promise<() => void>

/** Where findings are stored, and who receives them. */
export type FindingsPorts = {
  db: DetectionDb
  onFindings?: OnFindings | undefined
}

/** Returns what adapts the severity of a project's findings to its record. */
type CalibrateFindings = (
  project_id: string,
) => Promise<<F extends Omit<FindingContent, 'state'> & { evidence: Evidence }>(finding: F) => F>

/** The stores and the clock of detection. */
export type DetectionPorts = FindingsPorts & {
  store: ObservationStore
  calibrate?: CalibrateFindings | undefined
  clock: Clock
}
