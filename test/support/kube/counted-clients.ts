import type { ServiceClient } from '../../../src/operator/service/service-client.ts'
import type { KubeClient, KubeResource } from '../../../src/platform/kube/index.ts'

/** Called for each write after it has taken effect, before its answer is returned. */
export type OnWrite = (what: string) => Promise<void> | void

/**
 * The API server's client, with each write reported: `apply notes/status`. Dry runs and Leases are excluded
 * because a timer renews them.
 */
export function countedKube(kube: KubeClient, onWrite: OnWrite): KubeClient {
  const reportAfter = async <T>(
    what: string,
    resource: KubeResource,
    done: Promise<T>,
  ): Promise<T> => {
    const answer = await done
    if (resource.plural !== 'leases') await onWrite(`${what} ${resource.plural}`)
    return answer
  }
  return {
    ...kube,
    create: (resource, object, options) => {
      const done = kube.create(resource, object, options)
      return options?.dry_run ? done : reportAfter('create', resource, done)
    },
    replace: (resource, object, options) => {
      const done = kube.replace(resource, object, options)
      return options?.dry_run ? done : reportAfter('replace', resource, done)
    },
    patch: (resource, at, operations) =>
      reportAfter('patch', resource, kube.patch(resource, at, operations)),
    apply: (resource, object, options) =>
      reportAfter('apply', resource, kube.apply(resource, object, options)),
    remove: (resource, at, preconditions) =>
      reportAfter('remove', resource, kube.remove(resource, at, preconditions)),
  }
}

/** The service's client, with each write reported: `PUT /notes/n1`. */
export function countedService(service: ServiceClient, onWrite: OnWrite): ServiceClient {
  return {
    request: async (request) => {
      const answer = await service.request(request)
      if (request.method !== 'GET') await onWrite(`${request.method} ${request.path}`)
      return answer
    },
  }
}
