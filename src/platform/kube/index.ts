export { currentNamespace } from './connection.ts'
export {
  type KubeAct,
  KubeConflict,
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
} from './kube-client.ts'
export { type KubeOptions, openKube } from './open-kube.ts'
export type { Secret, SecretClient, SecretDraft } from './secrets.ts'
export { type OwnedSecretsOptions, ownedSecrets, secretResource } from './secrets.ts'
