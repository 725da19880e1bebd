export { currentNamespace } from './connection.ts'
export {
  KubeConflict,
  KubeDenied,
  KubeError,
  KubeExpired,
  KubeForbidden,
  KubeInvalid,
  KubeNotFound,
  KubeUnavailable,
} from './errors.ts'
export type {
  JsonPatchOperation,
  KubeClient,
  KubeDraft,
  KubeList,
  KubeMeta,
  KubeObject,
  KubeResource,
  ListOptions,
  ObjectAt,
  WatchEvent,
  WatchOptions,
} from './kube-client.ts'
export { openKube } from './open-kube.ts'
export {
  ownedSecrets,
  type Secret,
  type SecretClient,
  type SecretDraft,
  secretResource,
} from './secrets.ts'
