import type { HealthCheck } from '../platform/http/index.ts'
import type { KubeClient } from '../platform/kube/index.ts'
import type { Logger, Metrics } from '../platform/telemetry/index.ts'
import type { Kind } from './contract.ts'
import type { OperatorSettings } from './operator-settings.ts'
import type { ServiceClient } from './service-client.ts'
import type { Timing } from './timing.ts'

export type OperatorOptions = {
  kube: KubeClient
  service: ServiceClient
  kinds: readonly Kind[]
  timing: Timing
  /** Names this process in the Lease and in events: the pod's name and something random. */
  identity: string
  logger: Logger
  metrics: Metrics
  settings: OperatorSettings
}

/** An operator that runs. */
export type Operator = {
  /** What `/readyz` asks: one check, that every cache has been filled. */
  checks: readonly HealthCheck[]
  /** Resolves when it can't go on: it is no longer the leader. The process ends with a failure. */
  failed: Promise<Error>
  /** Ends watches and workers, waits for what is under way, gives the Lease back. */
  stop(): Promise<void>
}

/**
 * Starts the operator and returns at once: caches fill and the Lease is sought in the background.
 * `startOperator` of this file is of this type.
 */
export type StartOperator = (options: OperatorOptions) => Operator
