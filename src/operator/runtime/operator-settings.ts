import type { AllowedProjects } from '../service/project-ref.ts'

/** What bounds the operator; `defaultOperatorSettings` has what suits most clusters. */
export type OperatorSettings = {
  /** Namespaces that are watched; all of them when empty. */
  namespaces: readonly string[]
  /** Which projects resources of a namespace may name; undefined: all. */
  projects: AllowedProjects | undefined
  /** Undefined: this process is the only one. */
  leader_election: LeaderElectionSettings | undefined
  /** Reconciles of one kind at a time. */
  workers: number
  /** Objects in a page of a list. */
  list_page_size: number
  /** The whole list is read again that often, whatever the watch said. */
  relist_ms: number
  /** A watch that is silent for so long, without even a bookmark, is begun anew. */
  watch_idle_ms: number
  /** The server ends a watch after this to twice this. */
  watch_timeout_ms: number
  /** How long a stop waits for reconciles that are under way. */
  stop_ms: number
}

/** client-go's defaults: 15, 10 and 2 s. */
export type LeaderElectionSettings = {
  namespace: string
  name: string
  /** Others take the Lease when it was not renewed for so long. */
  lease_ms: number
  /** The leader gives up when it could not renew for so long. */
  renew_deadline_ms: number
  retry_ms: number
}

/**
 * Eight workers of a kind keep one API server and one service busy without crowding them; watches of
 * 5 to 10 min are client-go's, whose pages of 500 took 9 MiB more than these; servers send a bookmark
 * a minute, so two minutes of silence are no silence of theirs.
 */
export const defaultOperatorSettings: OperatorSettings = {
  namespaces: [],
  projects: undefined,
  leader_election: {
    namespace: 'default',
    name: 'looptrace-operator',
    lease_ms: 15_000,
    renew_deadline_ms: 10_000,
    retry_ms: 2_000,
  },
  workers: 8,
  list_page_size: 100,
  relist_ms: 600_000,
  watch_idle_ms: 120_000,
  watch_timeout_ms: 300_000,
  stop_ms: 15_000,
}
