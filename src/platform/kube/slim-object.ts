import type { KubeObject } from './kube-client.ts'

/**
 * Drops who owns which field, which is often more than half of an object and which nobody here
 * reads. The object is one that was just parsed: it is changed in place.
 */
export function withoutManagedFields(
  object: KubeObject & { metadata: { managedFields?: unknown } },
): KubeObject {
  delete object.metadata.managedFields
  return object
}
