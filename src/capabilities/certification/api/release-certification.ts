import { z } from 'zod'
import { poll } from '../../../kernel/poll.ts'
import { problem } from '../../../kernel/problem.ts'
import { openWaitSlots } from '../../../kernel/wait-slots.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { flagParameter, textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import { type CertificationRequest, invalid, window_days_max } from '../certifications/plan.ts'
import {
  declareCertification,
  findCertification,
  selectCertifications,
} from '../certifications/store.ts'
import {
  type Certification,
  type CertificationDb,
  describeEnvironment,
} from '../evidence/contract.ts'
import { findPolicyInForce } from '../policies/policy-in-force.ts'
import { certificationSchema, toCertificationReply } from './certification-reply.ts'
import { certificationBody, toRequest } from './certification-request.ts'
import {
  type CertificationRoutesDeps,
  certificationPath,
  readCertification,
  readScope,
  runScope,
} from './contract.ts'

const url = '/api/v1/reliability/phase10/release-certification'
const list = 'certifications'

/**
 * POST /api/v1/reliability/phase10/release-certification: declares a certification. A worker runs
 * it after its window has ended. Until it is finished, the same request returns it.
 */
export function postReleaseCertification(deps: CertificationRoutesDeps): Route {
  const waits = openWaitSlots('waiting certifications')
  return defineRoute({
    method: 'POST',
    url,
    id: 'certifyRelease',
    summary:
      'Certify a release: compare its tasks and eval runs with a policy, and sign the result',
    status: 202,
    auth: 'jwt_or_key',
    scope: runScope,
    idempotent: true,
    query: z.strictObject({
      wait: flagParameter('`true`: waits for the end, and answers 202 if it takes too long.'),
    }),
    body: certificationBody,
    reply: certificationSchema,
    also: {
      status: 200,
      description: 'The certification has ended.',
      reply: certificationSchema,
    },
    errors: [
      'release_policy_not_found',
      'eval_run_not_found',
      'certification_running',
      'certification_plan_conflict',
      'limit_reached',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ body, query, caller, signal }) => {
      const { project_id } = caller
      const request = toRequest(body)
      const { policy_id } = request
      const policy = await findPolicyInForce(deps.db, { project_id, policy_id })
      if (policy === undefined) throw policyNotFound(policy_id)
      checkWindow(request, deps.clock.now_ms())
      await checkEvalRuns(deps.db, project_id, request)
      const requested_by = requesterOf(caller)
      const declaration = { project_id, requested_by, request, policy }
      const declare = async () => (await declareCertification(deps, declaration)).certification
      const wait = async () => waitForEnd(deps, await declare(), signal)
      const row =
        query.wait === true ? await waits.take({ project_id, signal }, wait) : await declare()
      const status = row.state === 'pending' || row.state === 'running' ? 202 : 200
      return new Answer(toCertificationReply(row, deps.clock.now_ms()), { status })
    },
  })
}

function policyNotFound(policy_id: string) {
  return problem('release_policy_not_found', {
    detail: `policy_id: got "${policy_id}", which is no policy of this project`,
  })
}

const day_ms = 86_400_000

function checkWindow({ window }: CertificationRequest, now_ms: number): void {
  const to_ms = Date.parse(window?.to ?? '')
  if (!(to_ms > now_ms + window_days_max * day_ms)) return
  throw invalid('/window/to', `got ${window?.to}, expected at most ${window_days_max} days ahead`)
}

/** Throws unless all eval runs belong to the release or its baseline. */
async function checkEvalRuns(
  db: CertificationDb,
  project_id: string,
  { release, baseline, environment, eval_run_ids }: CertificationRequest,
): Promise<void> {
  const { name, version, image_digest } = release
  const own = { name, version, environment, image_digest }
  await checkRunsOf(db, { project_id, ids: eval_run_ids, of: own, pointer: '/eval_run_ids' })
  if (baseline === null) return
  const compared = {
    name: baseline.name ?? release.name,
    version: baseline.version,
    environment: baseline.environment ?? environment,
    image_digest: null,
  }
  if (compared.name === own.name && compared.version === own.version) {
    const got = `got ${compared.name}@${compared.version}`
    throw invalid('/baseline/version', `${got}, expected another release than the certified one`)
  }
  const ids = baseline.eval_run_ids
  await checkRunsOf(db, { project_id, ids, of: compared, pointer: '/baseline/eval_run_ids' })
}

type RunsOf = {
  project_id: string
  ids: readonly string[]
  /** Without an image, runs of every image of the release are its runs. */
  of: { name: string; version: string; environment: string; image_digest: string | null }
  pointer: string
}

async function checkRunsOf(db: CertificationDb, { project_id, ids, of, pointer }: RunsOf) {
  if (ids.length === 0) return
  const rows = await db
    .selectFrom('certification_eval_runs')
    .select(['id', 'release_name', 'release_version', 'environment', 'image_digest'])
    .where('project_id', '=', project_id)
    .where('id', 'in', [...ids])
    .execute()
  const known = new Map(rows.map((row) => [row.id, row]))
  for (const [at, id] of ids.entries()) {
    const row = known.get(id)
    if (row === undefined) {
      throw problem('eval_run_not_found', {
        detail: `${pointer.slice(1)}: ${id} is no eval run of this project`,
      })
    }
    const isOf = row.release_name === of.name && row.release_version === of.version
    if (isOf && row.environment === of.environment) {
      checkImage(row.image_digest, of.image_digest, `${pointer}/${at}`)
      continue
    }
    const got = `got a run of ${row.release_name}@${row.release_version} ${describeEnvironment(row.environment)}`
    const wanted = `${of.name}@${of.version} ${describeEnvironment(of.environment)}`
    throw invalid(`${pointer}/${at}`, `${got}, expected one of ${wanted}`)
  }
}

/** Throws when the request names an image and a run does not name the same one. */
function checkImage(of_run: string | null, wanted: string | null, pointer: string): void {
  if (wanted === null || of_run === wanted) return
  const got = of_run === null ? 'that names no image' : `of the image sha256:${of_run}`
  throw invalid(
    pointer,
    `got a run ${got}, expected one of sha256:${wanted}; upload runs with release.image_digest`,
  )
}

async function waitForEnd(
  { db, wait_ms_max }: CertificationRoutesDeps,
  row: Certification,
  signal: AbortSignal,
): Promise<Certification> {
  const key = { project_id: row.project_id, certification_id: row.id }
  const ended = await poll(
    () => findCertification(db, key),
    (found) => found?.state !== 'pending' && found?.state !== 'running',
    { wait_ms_max, signal },
  )
  return ended ?? row
}

/** GET /api/v1/reliability/phase10/release-certification: certifications, newest first. */
export function listReleaseCertifications({ db, clock }: CertificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listReleaseCertifications',
    summary: 'Release certifications, newest first',
    auth: 'jwt_or_key',
    scope: readScope,
    query: z.strictObject({
      ...idPageQuery,
      release_name: textParameter('Only certifications of releases of this name.'),
      release_version: textParameter('Only certifications of this version.'),
      environment: textParameter('Only certifications in this environment.'),
      subject: z
        .string()
        .regex(/^sha256:[0-9a-f]{64}$/)
        .optional()
        .describe('Only certifications of this subject, such as the digest of an image.'),
    }),
    reply: record('ReleaseCertificationList', {
      certifications: z.array(certificationSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, subject, ...filter }, caller: { project_id } }) => {
      const { items, info } = await readIdPage(list, { limit, cursor }, (page) =>
        selectCertifications(
          db,
          { project_id, ...filter, subject: subject?.slice('sha256:'.length) },
          page,
        ),
      )
      const now_ms = clock.now_ms()
      return { certifications: items.map((row) => toCertificationReply(row, now_ms)), ...info }
    },
  })
}

/**
 * GET /api/v1/reliability/phase10/release-certification/{certification_id}: a certification with
 * the results of its gates.
 */
export function getReleaseCertification({ db, clock }: CertificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-certification/{certification_id}',
    id: 'getReleaseCertification',
    summary: 'Read a release certification with the results of its gates',
    auth: 'jwt_or_key',
    scope: readScope,
    params: certificationPath,
    reply: certificationSchema,
    errors: ['certification_not_found', 'store_unavailable'],
    handle: async ({ params: { certification_id }, caller: { project_id } }) => {
      const row = await readCertification(db, { project_id, certification_id })
      return toCertificationReply(row, clock.now_ms())
    },
  })
}
