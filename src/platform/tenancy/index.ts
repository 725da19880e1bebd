export {
  currentScope,
  runAsOwner,
  runInInstallation,
  runInOrganization,
  runInProject,
  runInProjects,
  runInScope,
  runWithOrganization,
  type TenantScope,
} from './tenant-scope.ts'
