/** What bounds the operator; `defaultOperatorSettings` says why each is as it is. */
export type OperatorSettings = {
  /** Namespaces that are watched; all of them when empty. */
  namespaces: readonly string[]
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
