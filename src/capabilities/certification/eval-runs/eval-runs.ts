import { z } from 'zod'
import { isUuid, newId } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { withoutInvisible } from '../../../model/names.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  type Route,
  requesterOf,
} from '../../../platform/http/index.ts'
import { toEnvironmentName, toStoredEnvironment } from '../evidence/contract.ts'
import { type EvalCase, imageDigest } from '../evidence/eval-case.ts'
import { evalFormats, maxEvalFileChars } from './eval-file.ts'
import { createEvalReader, type EvalReader } from './eval-reader.ts'
import { EvalFileFault } from './read-cases.ts'
import {
  deleteEvalRun,
  type EvalRunDb,
  findEvalRun,
  insertEvalRun,
  type NewEvalRun,
  type StoredEvalRun,
  selectEvalRuns,
} from './store.ts'

const url = '/api/v1/reliability/phase10/eval-runs'
const list = 'eval runs'

/** Maximum eval runs of a project. */
const maxEvalRuns = 10_000

export type EvalRunDeps = { db: EvalRunDb; clock: Clock }

const reads = { level: 'project', role: 'viewer', key: 'certification:run' } as const
const writes = { level: 'project', role: 'editor', key: 'certification:run' } as const
const path = z.strictObject({ eval_run_id: z.string().describe('Id of the eval run.') })

/**
 * POST /api/v1/reliability/phase10/eval-runs: stores the cases of a file. Returns the first eval
 * run with 200 if it has equal cases, release, environment and name, so that pipelines can repeat a
 * call.
 */
export function postEvalRun({ db, clock }: EvalRunDeps): Route {
  const reader = createEvalReader()
  return defineRoute({
    method: 'POST',
    url,
    id: 'createEvalRun',
    summary: 'Upload the results of an evaluation of a release',
    status: 201,
    auth: 'jwt_or_key',
    scope: writes,
    body: evalRunBody,
    body_bytes_max: maxEvalRunBodyBytes,
    reply: evalRunSchema,
    also: {
      status: 200,
      description: 'The release has this eval run already; the answer is that run.',
      reply: evalRunSchema,
    },
    errors: ['limit_reached', 'rate_limited', 'store_unavailable'],
    handle: async ({ body, caller, signal }) => {
      const { project_id } = caller
      const read = await readCases(reader, body, { project_id, signal })
      const run = toRun(body, read, { caller, at: new Date(clock.now_ms()) })
      const limits = { cases: read.cases, runs_max: maxEvalRuns }
      const stored = await insertEvalRun(db, run, limits)
      if (stored === 'full') throw limitReached()
      return new Answer(toEvalRunReply(stored.run), { status: stored.is_new ? 201 : 200 })
    },
  })
}

/** Maximum body of an upload. JSON escapes each quote and line feed of the file. */
const maxEvalRunBodyBytes = 16 * 1_024 * 1_024

/** Text on one line, 1–256 characters. */
const lineOfText = z
  .string()
  .min(1)
  .max(256)
  .refine(...withoutInvisible)

/** The release that was evaluated. */
const release = record('EvaluatedRelease', {
  name: lineOfText.describe('Name of the release, such as `support-agent`.'),
  version: lineOfText.describe('Version of the release, such as `1.4.0`.'),
  image_digest: imageDigest.nullable().default(null),
})

const evalFormat = z.enum(evalFormats).meta({
  id: 'EvalFormat',
  description: '`junit`: a JUnit report. `jsonl`: a case a line as JSON.',
})

/** The body of POST of an eval run. */
export const evalRunBody = record('EvalRunRequest', {
  name: lineOfText.default('eval').describe('Name of the evaluation. Default: `eval`.'),
  release,
  environment: lineOfText
    .nullable()
    .describe('Environment in which it ran, such as `staging`; null for none.'),
  format: evalFormat,
  content: z
    .string()
    .min(1)
    .max(maxEvalFileChars)
    .describe(
      'The file as text, up to 8 Mi characters and 20,000 cases with their repeats. Only ids, groups, clusters, outcomes and numbers are stored.',
    ),
}).superRefine(({ content: _, ...fields }, context) => refuseUnstorable(fields, context))

type EvalRunBody = z.output<typeof evalRunBody>

const count = z.int().nonnegative()

/** An eval run in replies. */
const evalRunSchema = record('EvalRun', {
  eval_run_id: z.uuid(),
  name: z.string(),
  release,
  environment: z.string().nullable(),
  format: evalFormat,
  digest: z
    .string()
    .describe('Root of the Merkle tree of the cases, in hex. Independent of their order.'),
  cases: count.describe('Cases with their repeats, skipped ones included.'),
  passed: count,
  failed: count,
  skipped: count,
  created_at: z.iso.datetime(),
  created_by: z.string(),
})

/** Returns the reply of an eval run. */
function toEvalRunReply(run: StoredEvalRun): z.input<typeof evalRunSchema> {
  const { id, name, format, digest, cases, passed, failed, skipped } = run
  const image_digest = run.image_digest === null ? null : `sha256:${run.image_digest}`
  return {
    environment: toEnvironmentName(run.environment),
    eval_run_id: id,
    name,
    format,
    digest,
    cases,
    passed,
    failed,
    skipped,
    release: { name: run.release_name, version: run.release_version, image_digest },
    created_at: run.created_at,
    created_by: run.created_by,
  }
}

/** Reads the cases of the file. Throws `invalid_request` with its faulty lines. */
async function readCases(
  reader: EvalReader,
  { format, content }: EvalRunBody,
  about: Parameters<EvalReader['read']>[1],
): ReturnType<EvalReader['read']> {
  try {
    return await reader.read({ format, content }, about)
  } catch (error) {
    if (!(error instanceof EvalFileFault)) throw error
    throw problem('invalid_request', {
      detail: `/content: ${error.message}`,
      faults: error.faults.map(({ line, detail }) => ({
        pointer: '/content',
        detail: `line ${line}: ${detail}`,
      })),
    })
  }
}

function toRun(
  { name, release, environment, format }: EvalRunBody,
  { cases, digest }: { cases: readonly EvalCase[]; digest: string },
  { caller, at }: { caller: Caller; at: Date },
): NewEvalRun {
  const count = (passed: boolean | null) => cases.filter((one) => one.passed === passed).length
  return {
    id: newId(),
    project_id: caller.project_id,
    name,
    format,
    environment: toStoredEnvironment(environment),
    release_name: release.name,
    release_version: release.version,
    image_digest: release.image_digest?.slice('sha256:'.length) ?? null,
    digest,
    cases: cases.length,
    passed: count(true),
    failed: count(false),
    skipped: count(null),
    created_at: at,
    created_by: requesterOf(caller),
  }
}

function limitReached(): Problem {
  const detail = `The project has ${maxEvalRuns} eval runs, the maximum. Delete some first.`
  return problem('limit_reached', { detail })
}

/** GET /api/v1/reliability/phase10/eval-runs: the eval runs of a project, newest first. */
export function listEvalRuns({ db }: EvalRunDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listEvalRuns',
    summary: 'Eval runs, newest first',
    auth: 'jwt_or_key',
    scope: reads,
    query: z.strictObject({
      release_name: textParameter('Only runs of releases with this name.', 256),
      release_version: textParameter('Only runs of releases with this version.', 256),
      environment: textParameter('Only runs in this environment.', 256),
      ...idPageQuery,
    }),
    reply: record('EvalRunList', {
      eval_runs: z.array(evalRunSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...filter }, caller: { project_id } }) => {
      const name = [list, ...Object.values(filter)].join(' ')
      const { items, info } = await readIdPage(name, { limit, cursor }, (page) =>
        selectEvalRuns(db, { project_id, ...filter }, page),
      )
      return { eval_runs: items.map(toEvalRunReply), ...info }
    },
  })
}

/** GET /api/v1/reliability/phase10/eval-runs/{eval_run_id}: one eval run, without its cases. */
export function getEvalRun({ db }: EvalRunDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/eval-runs/{eval_run_id}',
    id: 'getEvalRun',
    summary: 'Read an eval run',
    auth: 'jwt_or_key',
    scope: reads,
    params: path,
    reply: evalRunSchema,
    errors: ['eval_run_not_found', 'store_unavailable'],
    handle: async ({ params: { eval_run_id: run_id }, caller: { project_id } }) => {
      const run = isUuid(run_id) ? await findEvalRun(db, { project_id, run_id }) : undefined
      if (run === undefined) throw evalRunNotFound(run_id)
      return toEvalRunReply(run)
    },
  })
}

/**
 * DELETE /api/v1/reliability/phase10/eval-runs/{eval_run_id}: deletes an eval run with its cases.
 * One that a declared certification names stays, for its further looks.
 */
export function removeEvalRun({ db }: EvalRunDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/reliability/phase10/eval-runs/{eval_run_id}',
    id: 'deleteEvalRun',
    summary: 'Delete an eval run',
    status: 204,
    auth: 'jwt_or_key',
    scope: writes,
    params: path,
    reply: z.undefined(),
    errors: ['eval_run_not_found', 'eval_run_in_use', 'store_unavailable'],
    handle: async ({ params: { eval_run_id: run_id }, caller: { project_id } }) => {
      const outcome = isUuid(run_id) ? await deleteEvalRun(db, { project_id, run_id }) : 'unknown'
      if (outcome === 'unknown') throw evalRunNotFound(run_id)
      if (outcome === 'in_use') throw evalRunInUse(run_id)
      return undefined
    },
  })
}

function evalRunInUse(run_id: string): Problem {
  return problem('eval_run_in_use', {
    detail: `A declared certification names the eval run ${run_id}, so later looks need it.`,
  })
}

function evalRunNotFound(run_id: string): Problem {
  return problem('eval_run_not_found', {
    detail: `eval_run_id: got "${run_id.slice(0, 80)}", expected the id of an eval run of this project`,
  })
}
