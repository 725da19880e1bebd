import type { z } from 'zod'
import type { Clock } from '../kernel/time.ts'
import type { SecretClient } from '../platform/kube/index.ts'
import type { Logger } from '../platform/telemetry/index.ts'
import type { CommonSpec } from './common-spec.ts'
import type { ServiceClient } from './service/service-client.ts'

/** Group and version of every kind. */
export const apiGroup = 'looptrace.dev'
export const apiVersion = `${apiGroup}/v1alpha1`

/**
 * One kind of resource: all that the manager, the generator of CRDs and the command line need to
 * know of it. `src/operator/kinds/<kind>/index.ts` exports one.
 */
export type Kind<Spec extends CommonSpec = CommonSpec, Status extends object = object> = {
  kind: string
  plural: string
  singular: string
  short_names: readonly string[]
  /** What it declares, in a sentence or two: `kubectl explain` and the reference show it. */
  description: string
  /** Wire form, camelCase. Kubernetes' extensions (`x-kubernetes-…`) stand in `.meta()`. */
  spec: z.ZodType<Spec>
  /** What the kind adds to `conditions`, `observedGeneration` and `lastSyncTime`. */
  status: z.ZodType<Status>
  /** Rules that compare parts of the whole resource; those of a field stand beside it. */
  rules: readonly CelRule[]
  /** Shown between Ready, Reason and Last Sync, Age. */
  columns: readonly PrinterColumn[]
  /** Reasons of Ready that are the kind's own, each with a sentence; the reference lists them. */
  reasons?: Readonly<Record<string, string>>
  /** A change of a Secret that a resource of this kind owns has it reconciled. */
  owns_secrets?: true
  /** What a resource is about, in words of the kind's own: `peersAbout` finds it by them. */
  about?(resource: Resource<Spec, Status>): readonly string[]
  /** A valid resource to start from; the reference shows it, and `lint` passes it. */
  example: { metadata: { name: string; namespace?: string }; spec: z.input<z.ZodType<Spec>> }
  /**
   * Brings the service to what the spec says and tells what it then reads there. Repeated at any
   * time, after any crash: every write is idempotent.
   */
  reconcile(resource: Resource<Spec, Status>, deps: ReconcileDeps): Promise<Reconciled<Status>>
  /** Takes back what `reconcile` made, or (`deletionPolicy: Retain`) lets go of it. Idempotent. */
  remove(resource: Resource<Spec, Status>, deps: ReconcileDeps): Promise<void>
}

export type CelRule = { rule: string; message: string }

/** A column of `kubectl get`. `path` is a JSONPath from the root: `.spec.traces.days`. */
export type PrinterColumn = {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  path: string
  description: string
  /** 0 is always shown, 1 with `-o wide`. */
  priority?: 0 | 1
}

/** A resource as it was last seen, its spec parsed and with its defaults. */
export type Resource<Spec extends CommonSpec = CommonSpec, Status extends object = object> = {
  meta: ResourceMeta
  spec: Spec
  /** Empty when it has none yet, or a backup was restored without it. */
  status: Partial<Status> & { conditions?: readonly Condition[] }
}

export type ResourceMeta = {
  kind: string
  name: string
  namespace: string
  uid: string
  generation: number
  /** ISO 8601. */
  created_at: string
  annotations: Readonly<Record<string, string>>
  /** Id in the service, as `noteExternalId` wrote it; outlives a lost status. */
  external_id: string | undefined
}

export type Condition = ConditionDraft & { lastTransitionTime: string; observedGeneration: number }

/** `reason` is a word in CamelCase, `message` a sentence for people. */
export type ConditionDraft = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

/** What was read back from the service after the writes. The manager adds generation and times. */
export type Reconciled<Status extends object = object> = {
  /** Ready among them. */
  conditions: readonly ConditionDraft[]
  status: Status
  /** One per change that was made. */
  events?: readonly EventDraft[]
  /** Values that had been changed behind the resource's back and were put right. */
  drifted?: number
  /** When to look again, if sooner than the spec's resyncPeriod. */
  again_after_ms?: number
}

/** An event of events.k8s.io/v1 about the resource. */
export type EventDraft = {
  type: 'Normal' | 'Warning'
  /** CamelCase: `Created`, `DriftCorrected`. */
  reason: string
  /** What was done, CamelCase: `PutPolicy`. */
  action: string
  note: string
}

export type ReconcileDeps = {
  /** The product's API, as the operator. */
  service: ServiceClient
  /** Secrets of the resource's own namespace. */
  secrets: SecretClient
  /** All resources of this kind that the operator knows, this one included. */
  peers(): readonly Resource[]
  /** Those of them that are about one of these; costs what it finds, however many there are. */
  peersAbout(words: readonly string[]): readonly Resource[]
  /** Writes `looptrace.dev/external-id`; done before what depends on it. */
  noteExternalId(id: string): Promise<void>
  clock: Clock
  logger: Logger
  /** Aborts when the operator stops or is no longer the leader. */
  signal: AbortSignal
}

/**
 * A kind's own way to say that the spec can't be followed as things stand: Ready becomes False with
 * the reason, an event tells it once, and it is looked at again on a change or at the next resync.
 */
export class NotReady extends Error {
  override readonly name = 'NotReady'
  readonly reason: string
  readonly again_after_ms: number | undefined

  constructor(
    reason: string,
    message: string,
    { again_after_ms }: { again_after_ms?: number } = {},
  ) {
    super(message)
    this.reason = reason
    this.again_after_ms = again_after_ms
  }
}
