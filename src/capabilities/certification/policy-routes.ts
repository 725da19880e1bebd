import type { Route } from '../../platform/http/index.ts'
import {
  type EvalRunDeps,
  getEvalRun,
  listEvalRuns,
  postEvalRun,
  removeEvalRun,
} from './eval-runs/eval-runs.ts'
import { getBenchmarkPolicy } from './policies/benchmark-policy.ts'
import type { PolicyDeps } from './policies/change-policy.ts'
import {
  deleteReleasePolicy,
  getReleasePolicy,
  listReleasePolicies,
  putReleasePolicy,
} from './policies/release-policies.ts'
import { getReleasePolicyVersion, listReleasePolicyVersions } from './policies/versions.ts'

/** The routes of release policies and of eval runs. */
export function releasePolicyRoutes(deps: PolicyDeps & EvalRunDeps): Route[] {
  return [
    getBenchmarkPolicy(deps),
    listReleasePolicies(deps),
    getReleasePolicy(deps),
    putReleasePolicy(deps),
    deleteReleasePolicy(deps),
    listReleasePolicyVersions(deps),
    getReleasePolicyVersion(deps),
    postEvalRun(deps),
    listEvalRuns(deps),
    getEvalRun(deps),
    removeEvalRun(deps),
  ]
}
