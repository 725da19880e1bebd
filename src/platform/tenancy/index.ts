export {
  currentScope,
  runAsOwner,
  runInInstallation,
  runInOrganization,
  runInProject,
  runInScope,
  type TenantScope,
} from './tenant-scope.ts'
