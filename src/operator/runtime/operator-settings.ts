import type { LabelSelector } from '../tenancy/grant.ts'

/** Limits and intervals of the operator; `defaultOperatorSettings` suits most clusters. */
export type OperatorSettings = {
  /** Watched namespaces; empty: all. */
  namespaces: readonly string[]
  /** Labels of the namespaces whose resources are served; undefined: all watched namespaces. */
  namespace_selector: LabelSelector | undefined
  /** Namespace and name of the installation, which tell its grants from those of others. */
  installation: string
  /** Namespace of the installation. */
  namespace: string
  /** ProjectGrants of this installation, which the leader applies and deletes. */
  grants: readonly InstallationResource[]
  /** IncidentRules in the namespace of the installation, which the leader applies and deletes. */
  default_rules: readonly InstallationResource[]
  /** URL of completions and OTLP for the Secrets of applications, without a slash at its end. */
  proxy_url: string
  /** Undefined when only one process runs. */
  leader_election: LeaderElectionSettings | undefined
  /** Class of the resources that the operator serves. */
  class_name: string
  /** The Lease by which installations of one class notice each other; undefined in tests of one. */
  presence: LeaderElectionSettings | undefined
  /** Concurrent reconciles per kind. */
  workers: number
  /** Objects per page of a list. */
  list_page_size: number
  /** Interval of full lists, independent of the watch. */
  relist_ms: number
  /** A watch is restarted after this time without an event or bookmark. */
  watch_idle_ms: number
  /** Minimum duration of a watch; the server ends it after up to twice this time. */
  watch_timeout_ms: number
  /** Time after which keys are revoked whose resource is gone. */
  orphan_grace_ms: number
  /** Time that a stop waits for reconciles in progress. */
  stop_ms: number
}

/** A resource that the installation declares: its name and its spec, unparsed. */
export type InstallationResource = { name: string; spec: object }

/**
 * Settings of a Lease for leader election or presence. For presence `name` is the name of the
 * installation.
 */
export type LeaderElectionSettings = {
  namespace: string
  name: string
  /** Others take over the Lease after this time without a renewal. */
  lease_ms: number
  /** The leader gives up after this time without a successful renewal. */
  renew_deadline_ms: number
  retry_ms: number
}

/** Those of client-go. The deadline is shorter than the Lease, so that two leaders do not overlap. */
export const leaseTimes = { lease_ms: 15_000, renew_deadline_ms: 10_000, retry_ms: 2_000 }

/**
 * Defaults. Eight workers per kind use one API server and one service well without overloading
 * them. Watches of 5 to 10 min are client-go's; its pages of 500 needed 9 MiB more memory than 100.
 * Servers send a bookmark per minute, so two minutes of silence mean a dead connection.
 */
export const defaultOperatorSettings: OperatorSettings = {
  namespaces: [],
  namespace_selector: undefined,
  installation: 'default/looptrace-operator',
  namespace: 'default',
  grants: [],
  default_rules: [],
  proxy_url: 'http://127.0.0.1:8080',
  leader_election: { ...leaseTimes, namespace: 'default', name: 'looptrace-operator' },
  class_name: 'default',
  presence: { ...leaseTimes, namespace: 'default', name: 'looptrace' },
  workers: 8,
  list_page_size: 100,
  relist_ms: 600_000,
  watch_idle_ms: 120_000,
  watch_timeout_ms: 300_000,
  orphan_grace_ms: 3_600_000,
  stop_ms: 15_000,
}
