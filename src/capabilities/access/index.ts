export { type Access, type AccessOptions, openAccess, openKeys } from './access.ts'
export { accessRoutes } from './access-routes.ts'
export { authorizer } from './authorizer.ts'
export { type BootstrapOptions, type BootstrapSecrets, bootstrap } from './bootstrap/bootstrap.ts'
export {
  GivenSecretRefused,
  type GivenSecrets,
  mintGivenSecrets,
} from './bootstrap/given-secrets.ts'
export type { KeyCache, KeyCacheLimits } from './keys/key-cache.ts'
export { isOperatorKey, type ProjectKey } from './keys/project-key.ts'
export { createPasswordHasher, type PasswordHasher } from './passwords/password-hasher.ts'
