import type { z } from 'zod'
import type { KubeObject } from '../../platform/kube/index.ts'
import { type Bounded, boundCommonSpec, type CommonSpec, type ProjectRef } from '../common-spec.ts'
import type { Condition, Kind, Resource, ResourceMeta } from '../contract.ts'
import { annotations } from '../names.ts'
import { isPending } from '../ready-condition.ts'
import { type ProjectStatus, projectStatus } from '../tenancy/project-use.ts'

/** A resource as the cache keeps it: only the parts that a reconcile needs. */
export type CachedResource = {
  key: string
  resource_version: string
  meta: ResourceMeta
  deleting: boolean
  finalizers: readonly string[]
  /** Whether the object has annotations, also those that `meta.annotations` leaves out. */
  has_annotations: boolean
  paused: boolean
  /** Undefined when the spec does not match the kind's schema. */
  resource: Resource | undefined
  /** The project that the spec names, if it names one. */
  project_ref: ProjectRef | undefined
  /** The reason why `resource` is undefined. */
  spec_fault: string | undefined
  conditions: readonly Condition[]
  /** The kind's own status fields, or none if they do not match its schema. */
  own_status: object
  /** The project that it uses, by its status, else by its annotation. */
  project: ProjectStatus
  /** The status as received, without the default condition of the CRD. */
  status: Readonly<Record<string, unknown>>
  /** Whether the status has any condition, the default of the CRD included. */
  has_conditions: boolean
  ready: boolean
}

/** An annotation in which kubectl keeps a second copy of the whole object. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** Converts an object of the API server. The kind's schema checks and completes its spec. */
export function toCachedResource(kind: Kind, object: KubeObject): CachedResource {
  const meta = metaOf(kind, object)
  const { conditions: received, ...fields } = recordOf(object.status)
  const conditions = withoutPending(received)
  const status = conditions.length === 0 ? fields : { ...fields, conditions }
  const spec = kind.spec.safeParse(object.spec)
  const own_status = ownStatus(kind, status)
  return {
    key: `${meta.namespace}/${meta.name}`,
    resource_version: object.metadata.resourceVersion,
    meta,
    deleting: object.metadata.deletionTimestamp !== undefined,
    finalizers: object.metadata.finalizers ?? [],
    has_annotations: object.metadata.annotations !== undefined,
    paused: meta.annotations[annotations.paused] === 'true',
    resource: spec.success
      ? { meta, ...boundSpec(kind, spec.data), status: { ...own_status, conditions } }
      : undefined,
    project_ref: spec.success ? projectRefOf(kind, spec.data) : undefined,
    spec_fault: spec.success ? undefined : describeFaults(spec.error),
    conditions,
    own_status,
    project: projectOf(kind, status, meta),
    status,
    has_conditions: Array.isArray(received) && received.length > 0,
    ready: conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  }
}

function projectRefOf(
  kind: Kind,
  spec: CommonSpec & { projectRef?: ProjectRef },
): ProjectRef | undefined {
  return kind.project?.toRef?.(spec) ?? spec.projectRef
}

function boundSpec(kind: Kind, spec: CommonSpec): Bounded<CommonSpec> {
  const common = boundCommonSpec(spec)
  const own = kind.bound?.(common.spec) ?? { spec: common.spec, warnings: [] }
  return { spec: own.spec, warnings: [...common.warnings, ...own.warnings] }
}

function metaOf(kind: Kind, { metadata }: KubeObject): ResourceMeta {
  const { [lastApplied]: _, ...kept } = metadata.annotations ?? {}
  return {
    kind: kind.kind,
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    created_at: metadata.creationTimestamp,
    annotations: kept,
    external_id: kept[annotations.external_id],
    project_id: kept[annotations.project_id],
  }
}

/** Returns the kind's own status fields, or nothing if they do not match its schema. */
function ownStatus(kind: Kind, status: Readonly<Record<string, unknown>>): object {
  const { conditions: _c, observedGeneration: _g, lastSyncTime: _t, ...fields } = status
  const parsed = kind.status.safeParse(kind.project ? withoutProject(fields) : fields)
  return parsed.success ? parsed.data : {}
}

/** Removes the status fields that the runtime writes for kinds with a project. */
export function withoutProject({
  projectId: _p,
  grant: _g,
  withdrawal: _w,
  ...own
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return own
}

/**
 * Returns the project of a resource. The status counts first, because who may edit a resource may
 * edit its annotations, but not its status.
 */
function projectOf(
  kind: Kind,
  { projectId, grant, withdrawal }: Readonly<Record<string, unknown>>,
  meta: ResourceMeta,
): ProjectStatus {
  if (kind.project === undefined) return {}
  const parsed = projectStatus.safeParse({ projectId, grant, withdrawal })
  if (parsed.success && parsed.data.projectId !== undefined) return parsed.data
  const noted = projectStatus.safeParse({ projectId: meta.project_id?.toLowerCase() })
  return noted.success ? noted.data : {}
}

function withoutPending(conditions: unknown): readonly Condition[] {
  return Array.isArray(conditions) ? conditions.filter((condition) => !isPending(condition)) : []
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const faults_max = 5

function describeFaults(error: z.ZodError): string {
  const lines = error.issues
    .slice(0, faults_max)
    .map(
      ({ path, message }) => `spec${path.map((part) => `.${String(part)}`).join('')}: ${message}`,
    )
  return lines.join('; ')
}
