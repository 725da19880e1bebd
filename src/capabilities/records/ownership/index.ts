export {
  knownOf,
  type OwnedRow,
  type Owner,
  type ResolvedOwners,
  resolveOwners,
} from './resolve-owners.ts'
