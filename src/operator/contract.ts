import type { z } from 'zod'
import type { Clock } from '../kernel/time.ts'
import type { ManagedBy } from '../model/managed-by.ts'
import type { SecretClient } from '../platform/kube/index.ts'
import type { Logger } from '../platform/telemetry/index.ts'
import type { Bounded, CommonSpec, ProjectRef } from './common-spec.ts'
import type { Installation } from './installation.ts'
import type { ServiceClient } from './service/service-client.ts'
import type { GrantNeeds } from './tenancy/decide-grant.ts'
import type { Grant, NamespaceSelection } from './tenancy/grant.ts'

/** Group and version of every kind. */
export const apiGroup = 'looptrace.dev'
export const apiVersion = `${apiGroup}/v1alpha1`

/**
 * One kind of resource, as the runtime, the CRD generator and the command line use it.
 * `src/operator/kinds/<kind>/index.ts` exports one.
 */
export type Kind<Spec extends CommonSpec = CommonSpec, Status extends object = object> = {
  kind: string
  plural: string
  singular: string
  short_names: readonly string[]
  /** Set for a kind without a namespace. */
  scope?: 'Cluster'
  /** One or two sentences for `kubectl explain` and the reference. */
  description: string
  /** Schema of the spec in camelCase; Kubernetes extensions (`x-kubernetes-…`) are in `.meta()`. */
  spec: z.ZodType<Spec>
  /**
   * Status fields besides `conditions`, `observedGeneration` and `lastSyncTime`, and besides
   * `projectId`, `grant` and `withdrawal` of a kind with `project`.
   */
  status: z.ZodType<Status>
  /** CEL rules over the whole resource; rules of one field are in the field's `.meta()`. */
  rules: readonly CelRule[]
  /** Printer columns, shown between Ready, Reason and Last Sync, Age. */
  columns: readonly PrinterColumn[]
  /** Reasons of Ready that only this kind has, each with a sentence for the reference. */
  reasons?: Readonly<Record<string, string>>
  /**
   * Those of `reasons` that pass without a change by anyone: the condition is `Reconciling`. With any
   * other reason of Ready `False` it is `Stalled`.
   */
  temporary_reasons?: readonly string[]
  /** Reconcile a resource of this kind when a Secret that it owns changes. */
  owns_secrets?: true
  /** Set for a kind that reads Secrets; a change of one reconciles the resources that name it. */
  reads_secrets?: {
    /** Label of the Secrets, as a selector: `looptrace.dev/channel=true`. */
    label_selector: string
    /** Returns the name of the Secret that a spec refers to. */
    nameIn(spec: Spec): string | undefined
  }
  /** Set for a kind that names a project: its resources need a ProjectGrant. */
  project?: ProjectUse<Spec, Status>
  /** Set for the kind of grants. Returns undefined until the project is resolved. */
  toGrant?(resource: Resource<Spec, Status>): Grant | undefined
  /** Returns what a valid spec does not do although its author expects it; `lint` warns. */
  warnings?(spec: Spec): readonly Warning[]
  /** Replaces values beyond the kind's bounds, which an earlier version allowed. */
  bound?(spec: Spec): Bounded<Spec>
  /** Returns faults of a spec that depend on the other kinds, with a path in the spec. */
  faultsAmong?(spec: Spec, kinds: readonly Pick<Kind, 'kind' | 'project'>[]): readonly SpecFault[]
  /** A valid example for the reference; `lint` finds no fault in it. */
  example: { metadata: { name: string; namespace?: string }; spec: z.input<z.ZodType<Spec>> }
  /**
   * Makes the service match the spec and returns the state that it then reads back. May be repeated
   * at any time, also after a crash: every write is idempotent.
   */
  reconcile(resource: Resource<Spec, Status>, deps: ReconcileDeps): Promise<Reconciled<Status>>
  /**
   * Undoes `reconcile`, or releases it with `deletionPolicy: Retain`. Idempotent. Left out by a kind
   * that writes nothing to the service; its resources get no finalizer.
   */
  remove?(resource: Resource<Spec, Status>, deps: ReconcileDeps): Promise<void>
}

/** A fault of a spec: the path of the field, and the message. */
export type SpecFault = { path: readonly (string | number)[]; message: string }

/** How a kind uses the project of its `projectRef`. */
type ProjectUse<Spec extends CommonSpec = CommonSpec, Status extends object = object> = {
  /**
   * Set for a kind whose object in the service is a part of the project: the external id is the
   * project's id. The runtime writes it together with the finalizer.
   */
  is_external_id?: true
  /** Returns the project that a spec without `projectRef` names. */
  toRef?(spec: Spec): ProjectRef
  /** Returns what the resource asks of its grant besides the project. */
  needs?(spec: Spec): Partial<GrantNeeds>
  /**
   * Ends the use of the project after the grant was withdrawn: revokes keys, releases objects.
   * Idempotent, also after a crash. The spec may be invalid, so it is not passed.
   */
  withdraw(resource: Omit<Resource<Spec, Status>, 'spec'>, deps: ReconcileDeps): Promise<void>
  /**
   * Lists the objects of an installation in the service that must not outlive their resource. When
   * a resource is gone without its removal, `withdraw` is called for its object after a grace.
   */
  listOwned?(service: ServiceClient, installation_id: string): Promise<readonly OwnedObject[]>
}

/** An object in the service that a resource declares. */
export type OwnedObject = { id: string; project_id: string; owner: ManagedBy }

/** A warning about the field of a spec at a path. */
type Warning = { path: readonly (string | number)[]; message: string }

export type CelRule = { rule: string; message: string }

/** A column of `kubectl get`. `path` is a JSONPath from the root: `.spec.traces.days`. */
export type PrinterColumn = {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  path: string
  description: string
  /** 0: always shown; 1: shown with `-o wide`. */
  priority?: 0 | 1
}

/** The column of a kind with a project. */
export const projectIdColumn: PrinterColumn = {
  name: 'Project ID',
  type: 'string',
  path: '.status.projectId',
  description: 'Id of the project.',
  priority: 1,
}

/** A resource as last read, with its spec parsed and defaults filled in. */
export type Resource<Spec extends CommonSpec = CommonSpec, Status extends object = object> = {
  meta: ResourceMeta
  spec: Spec
  /** Sentences about values of the spec that are replaced, because they are beyond their bounds. */
  warnings?: readonly string[]
  /** Empty before the first reconcile, or after a restore from a backup without status. */
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
  /** Id in the service, as written by `noteExternalId`; survives the loss of the status. */
  external_id: string | undefined
  /** Id of the project that the resource uses; survives the loss of the status. */
  project_id?: string | undefined
}

export type Condition = ConditionDraft & { lastTransitionTime: string; observedGeneration: number }

/** A condition to write: `reason` is a word in CamelCase, `message` a sentence for people. */
export type ConditionDraft = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

/** The state read back from the service after the writes. The runtime adds generation and times. */
export type Reconciled<Status extends object = object> = {
  /** Conditions, including Ready. */
  conditions: readonly ConditionDraft[]
  status: Status
  /** One event per change. */
  events?: readonly EventDraft[]
  /** Number of values that someone else had changed and that were corrected. */
  drifted?: number
  /** Time until the next reconcile, if shorter than the spec's resyncPeriod. */
  again_after_ms?: number
  /** Set while the service has the spec but does not follow it yet: `observedGeneration` stays. */
  is_unobserved?: true
}

/** An event (events.k8s.io/v1) about a resource. */
export type EventDraft = {
  type: 'Normal' | 'Warning'
  /** CamelCase: `Created`, `DriftCorrected`. */
  reason: string
  /** The operation in CamelCase: `PutPolicy`. */
  action: string
  note: string
}

export type ReconcileDeps = {
  /**
   * Id of the granted project. Empty for a kind without `projectRef`, and in `remove` if the resource
   * was never granted one.
   */
  project_id: string
  /** Client of the product's API, with the operator's key. */
  service: ServiceClient
  /** URL at which applications reach completions and OTLP, without a slash at its end. */
  proxy_url: string
  /** The operator's installation; undefined for an operator without presence. */
  installation?: Installation | undefined
  /** Client for the Secrets of this resource. */
  secrets: SecretClient
  /** Returns the number of resources of a kind that a grant allows, or allowed until now. */
  countUses(kind: string, grant: string): number
  /** The kinds of the operator. */
  kinds: readonly Pick<Kind, 'kind' | 'project'>[]
  /** Returns all cached resources of this kind, including this one. */
  peers(): readonly Resource[]
  /**
   * Returns the other resources of this kind and class that may use the same project now: granted,
   * not suspended, not paused and not being deleted.
   */
  rivals(): readonly Resource[]
  /** Returns the number of selected namespaces; undefined while they are not known. */
  countNamespaces(selection: NamespaceSelection): number | undefined
  /** Writes `looptrace.dev/external-id`. Call it before any write that depends on the id. */
  noteExternalId(id: string): Promise<void>
  /** Removes an annotation if it still has this value. */
  removeAnnotation(name: string, value: string): Promise<void>
  clock: Clock
  logger: Logger
  /** Aborts when the operator stops or loses the Lease. */
  signal: AbortSignal
}

/**
 * Thrown by a kind when the spec can't be applied at present. Ready becomes False with the reason,
 * one event reports it, and the next change or resync reconciles again.
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
