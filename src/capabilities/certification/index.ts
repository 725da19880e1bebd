import type { Route } from '../../platform/http/index.ts'
import { cancelReleaseCertification } from './api/cancel.ts'
import { compareReleaseCertifications } from './api/compare.ts'
import type { CertificationRoutesDeps } from './api/contract.ts'
import { recomputeReleaseCertification } from './api/recompute.ts'
import {
  getReleaseCertification,
  listReleaseCertifications,
  postReleaseCertification,
} from './api/release-certification.ts'
import { getCertificationKeys, getCertificationStatement } from './api/statement.ts'
import {
  type EvalRunDeps,
  getEvalRun,
  listEvalRuns,
  postEvalRun,
  removeEvalRun,
} from './eval-runs/eval-runs.ts'
import { getBenchmarkPolicy } from './policies/benchmark-policy.ts'
import { type PolicyDeps, releasePolicyDocuments } from './policies/release-policies.ts'
import { getReleasePolicyVersion, listReleasePolicyVersions } from './policies/versions.ts'

export type { CertificationRoutesDeps } from './api/contract.ts'
export { type CertifyDeps, certificationHandler } from './certifications/certify.ts'
export { certificationChores } from './certifications/chores.ts'
export { recomputeCertification } from './certifications/recompute.ts'
export { readEvalFile } from './eval-runs/eval-file.ts'
export { openCertificationErasure } from './evidence/erase-user.ts'
export { BadSigningKey, openSigningKey } from './keys/signing-key.ts'
export { readStatement, type Statement, statementPayloadType } from './statement/statement.ts'

/** The routes of release policies and of eval runs. */
export function releasePolicyRoutes(deps: PolicyDeps & EvalRunDeps): Route[] {
  return [
    getBenchmarkPolicy(deps),
    ...releasePolicyDocuments(deps),
    listReleasePolicyVersions(deps),
    getReleasePolicyVersion(deps),
    postEvalRun(deps),
    listEvalRuns(deps),
    getEvalRun(deps),
    removeEvalRun(deps),
  ]
}

/** The routes of release certifications, their statements and keys. */
export function certificationRoutes(deps: CertificationRoutesDeps): Route[] {
  return [
    postReleaseCertification(deps),
    listReleaseCertifications(deps),
    compareReleaseCertifications(deps),
    getReleaseCertification(deps),
    getCertificationStatement(deps),
    recomputeReleaseCertification(deps),
    cancelReleaseCertification(deps),
    getCertificationKeys(deps),
  ]
}
