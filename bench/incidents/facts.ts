/** Processor time of one minute of evaluations: every rule at its newest slot and the five before. */
export type SignalsRow = {
  /** How the rules of a project differ. */
  rules: 'alike' | 'distinct'
  count: number
  projects: number
  calls_per_minute: number
  node_ms: number
  clickhouse_ms: number
  postgres_ms: number
  /** Time of one evaluation of all projects, one after the other. */
  wall_ms: number
}

export type SignalsFacts = { rounds: number; rows: SignalsRow[] }

/** The goal of the project for 1,000 rules at an interval of a minute: 0.2 of a processor. */
export const goal_cores = 0.2
