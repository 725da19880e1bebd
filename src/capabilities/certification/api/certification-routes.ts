import type { Route } from '../../../platform/http/index.ts'
import { cancelReleaseCertification } from './cancel.ts'
import { getCertificationKeys } from './certification-keys.ts'
import { compareReleaseCertifications } from './compare.ts'
import type { CertificationRoutesDeps } from './contract.ts'
import { recomputeReleaseCertification } from './recompute.ts'
import {
  getReleaseCertification,
  listReleaseCertifications,
  postReleaseCertification,
} from './release-certification.ts'
import { getCertificationStatement } from './statement.ts'

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
