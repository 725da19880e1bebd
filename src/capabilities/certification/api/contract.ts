import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { type CertificationKey, findCertification } from '../certifications/store.ts'
import type { Certification, CertificationDb } from '../evidence/contract.ts'

/** Dependencies of the routes of release certifications. */
export type CertificationRoutesDeps = {
  db: CertificationDb
  clock: Clock
  /** Longest wait of a request with `wait`. */
  wait_ms_max: number
}

/** Who may read certifications. */
export const readScope = { level: 'project', role: 'viewer', key: 'certification:run' } as const

/** Who may start and cancel certifications. */
export const runScope = { level: 'project', role: 'editor', key: 'certification:run' } as const

/** Path of a certification. */
export const certificationPath = z.strictObject({
  certification_id: z.string().describe('Id of the certification.'),
})

/** Returns a certification of a project. Throws `certification_not_found`. */
export async function readCertification(
  db: CertificationDb,
  { project_id, certification_id }: CertificationKey,
): Promise<Certification> {
  const key = { project_id, certification_id }
  const found = isUuid(certification_id) ? await findCertification(db, key) : undefined
  if (found !== undefined) return found
  throw notFound(certification_id)
}

function notFound(id: string): Problem {
  const got = `got "${id.slice(0, 80)}"`
  return problem('certification_not_found', {
    detail: `certification_id: ${got}, which is no certification of this project`,
  })
}
