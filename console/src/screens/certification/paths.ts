/** The routes of certifications and of their policies. */
export const path = '/api/v1/reliability/phase10/release-certification'
export const policiesPath = '/api/v1/reliability/phase10/release-policies'
