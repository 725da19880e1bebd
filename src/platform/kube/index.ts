export { currentNamespace } from './connection.ts'
export {
  type KubeAct,
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
  OwnerReference,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './kube-client.ts'
export { type KubeOptions, openKube } from './open-kube.ts'
export {
  type OwnedSecretsOptions,
  ownedSecrets,
  type Secret,
  type SecretClient,
  type SecretDraft,
  secretResource,
} from './secrets.ts'
