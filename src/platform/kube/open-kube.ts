import type { Clock } from '../../kernel/time.ts'
import { openConnection } from './connection.ts'
import { answerError, type KubeAct, KubeError, noAnswerError } from './errors.ts'
import {
  type KubeClient,
  type KubeDraft,
  type KubeList,
  type KubeObject,
  type KubeResource,
  type ListOptions,
  type ObjectAt,
  toKubeObject,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './kube-client.ts'
import {
  createRequests,
  type KubeRequest,
  type KubeRequests,
  type OnAnswer,
  resourceName,
  resourcePath,
  type Target,
  WatchError,
  watchEvents,
  withQuery,
} from './requests.ts'

export type KubeOptions = {
  /** Time limit from a request to the end of its answer; for a watch, to the beginning. */
  request_timeout_ms: number
  clock: Clock
  /** Called for each answer; for metrics. */
  onAnswer?: OnAnswer
}

/**
 * Opens a client for the API server of `KUBECONFIG`, `~/.kube/config` or the pod's service account,
 * in this order. Sends nothing yet. Throws `KubeConfigError` when no configuration is found.
 */
export function openKube({ request_timeout_ms, clock, onAnswer }: KubeOptions): KubeClient {
  const connection = openConnection({ clock })
  const requests = createRequests(connection, {
    timeout_ms: request_timeout_ms,
    onAnswer: onAnswer ?? (() => undefined),
  })
  const send = async (request: KubeRequest) =>
    toKubeObject((await requests.json(request)) as KubeObject)
  return {
    list: (resource, options) => list(requests, resource, options),
    watch: (resource, options) => watch(requests, resource, options),
    read: (resource, at) => send(requestOf('get', { ...resource, ...at })),
    create: (resource, object, options) => {
      const { namespace, name } = object.metadata
      const { act, ...request } = requestOf('create', { ...resource, namespace })
      const path = withDryRun(request.path, options)
      return send({ ...request, path, act: { ...act, name }, body: object })
    },
    replace: (resource, object, options) => {
      const request = requestOf('update', { ...resource, ...toObjectAt(object) })
      return send({ ...request, path: withDryRun(request.path, options), body: object })
    },
    patch: (resource, at, operations) =>
      send({
        ...requestOf('patch', { ...resource, ...at }),
        body: operations,
        content_type: 'application/json-patch+json',
      }),
    apply: (resource, object, { field_manager, subresource }) => {
      const request = requestOf('patch', { ...resource, ...toObjectAt(object), subresource })
      return send({
        ...request,
        path: withQuery(request.path, { fieldManager: field_manager, force: 'true' }),
        body: object,
        content_type: 'application/apply-patch+yaml',
      })
    },
    remove: async (resource, at, { uid, resource_version }) => {
      const preconditions = { uid, ...(resource_version && { resourceVersion: resource_version }) }
      await requests.json({
        ...requestOf('delete', { ...resource, ...at }),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions },
      })
    },
  }
}

const methods = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
} as const

function requestOf(
  verb: keyof typeof methods,
  target: Target,
): Pick<KubeRequest, 'act' | 'method' | 'path'> {
  const { namespace, name } = target
  return {
    act: { verb, resource: resourceName(target), namespace, name },
    method: methods[verb],
    path: resourcePath(target),
  }
}

function toObjectAt({ metadata: { namespace, name } }: KubeDraft): ObjectAt {
  return { namespace, name }
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run */
function withDryRun(path: string, options: WriteOptions | undefined): string {
  return withQuery(path, { dryRun: options?.dry_run ? 'All' : undefined })
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks */
async function list(
  requests: KubeRequests,
  resource: KubeResource,
  options: ListOptions,
): Promise<KubeList> {
  const { namespace, label_selector, metadata_only, page_size, next, signal } = options
  const request = requestOf('list', { ...resource, namespace })
  const answer = (await requests.json({
    ...request,
    path: withQuery(request.path, {
      labelSelector: label_selector,
      limit: page_size,
      continue: next,
    }),
    ...(metadata_only && { accept: acceptMetadata('PartialObjectMetadataList') }),
    signal,
  })) as { items: KubeObject[] | null; metadata: { resourceVersion: string; continue?: string } }
  return {
    items: (answer.items ?? []).map(toKubeObject),
    resource_version: answer.metadata.resourceVersion,
    next: answer.metadata.continue || undefined,
  }
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks */
async function* watch(
  requests: KubeRequests,
  resource: KubeResource,
  options: WatchOptions,
): AsyncIterable<WatchEvent> {
  const { namespace, label_selector, metadata_only, resource_version, timeout_ms, signal } = options
  const request = requestOf('watch', { ...resource, namespace })
  const body = await requests.stream({
    ...request,
    path: withQuery(request.path, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: label_selector,
      resourceVersion: resource_version,
      timeoutSeconds: Math.max(1, Math.round(timeout_ms / 1000)),
    }),
    ...(metadata_only && { accept: acceptMetadata('PartialObjectMetadata') }),
    signal,
  })
  try {
    yield* watchEvents(body)
  } catch (error) {
    throw toWatchError(request.act, error)
  }
}

function toWatchError(act: KubeAct, error: unknown): Error {
  if (error instanceof KubeError) return error
  if (error instanceof WatchError) return answerError(act, error.answer)
  return noAnswerError(act, error, 'the watch was cut off')
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
function acceptMetadata(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}
