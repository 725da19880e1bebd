export {
  currentScope,
  runAsOwner,
  runInInstallation,
  runInOrganization,
  runInProject,
  runInProjects,
  runInScope,
  type TenantScope,
} from './tenant-scope.ts'
