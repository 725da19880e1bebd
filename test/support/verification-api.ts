import { createHash } from 'node:crypto'
import { z } from 'zod'
import { openClaimFindings } from '../../src/capabilities/detection/index.ts'
import { openClickHouseRecordStore } from '../../src/capabilities/storage/index.ts'
import type { VerificationRoutesDeps } from '../../src/capabilities/verification/api/contract.ts'
import { verificationRoutes } from '../../src/capabilities/verification/api/verification-routes.ts'
import type {
  RunsDb,
  StoredResult,
  Verifier,
} from '../../src/capabilities/verification/contract.ts'
import { computeTrust } from '../../src/capabilities/verification/trust/fuse.ts'
import type { Verdict } from '../../src/capabilities/verification/verdicts/verdict.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from './detection.ts'
import { authorize, tokenOf } from './task-api.ts'

/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
export type VerificationReply = { status: number; body: Json; etag: string | undefined }

/** The routes of verification on a server, over both stores. No worker does the runs. */
export type VerificationApi = AsyncDisposable & {
  bench: DetectionBench
  db: RunsDb
  deps: VerificationRoutesDeps
  /** `path` is relative to `/api/v1/verification`. An editor calls by default. */
  call(method: Method, path: string, about: Call): Promise<VerificationReply>
  get(project_id: string, path: string, headers?: Headers): Promise<VerificationReply>
  post(project_id: string, path: string, body?: object): Promise<VerificationReply>
  /** Stores an agent's run: a tool call, and an answer. Returns the trace of the answer. */
  bringRun(project_id: string, task_id: string, about?: RunAbout): Promise<string>
  /** Stores runs of many tasks at once. */
  bringRuns(project_id: string, task_ids: readonly string[], about?: RunAbout): Promise<void>
  /** Ends a pending run, as a worker does. */
  endRun(run_id: string, claims: readonly EndedClaim[]): Promise<void>
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Headers = Record<string, string>
type Call = { project_id: string; headers?: Headers; body?: unknown }
type RunAbout = { answer?: string; task_name?: string; start_time?: bigint; name?: string }
type EndedClaim = {
  text: string
  verdict: Verdict
  results?: readonly Pick<StoredResult, 'verifier' | 'verdict' | 'confidence'>[]
}

const logger = createLogger({ role: 'test', level: 'silent' })

export async function openVerificationApi(
  change: Partial<VerificationRoutesDeps> = {},
): Promise<VerificationApi> {
  const bench = await openDetectionBench()
  const db = bench.db as unknown as RunsDb
  const deps: VerificationRoutesDeps = {
    ...{ db, clock: systemClock, store: bench.store, models: [], wait_ms_max: 5_000 },
    records: openClickHouseRecordStore({ columnar: bench.columnar }),
    verifiers: testVerifiers(),
    budget_nano_dollars: 1_000_000_000n,
    onOverride: (trx, answer) =>
      openClaimFindings({})(trx as unknown as DetectionBench['db'], answer),
    ...change,
  }
  const server = await createHttpServer({
    routes: verificationRoutes(deps),
    ...{ authorize, logger, metrics: createMetrics(), clock: systemClock },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 30_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const call: VerificationApi['call'] = async (method, path, { project_id, headers, body }) => {
    const reply = await server.inject({
      ...{ method, url: `/api/v1/verification${path}` },
      headers: headers ?? tokenOf('editor', project_id),
      ...(body !== undefined && { payload: body as object }),
    })
    const { statusCode: status, body: text } = reply
    return { status, body: text === '' ? undefined : reply.json(), etag: etagIn(reply.headers) }
  }
  return {
    ...{ bench, db, deps, call },
    get: (project_id, path, headers) =>
      call('GET', path, { project_id, headers: headers ?? tokenOf('viewer', project_id) }),
    post: (project_id, path, body) => call('POST', path, { project_id, body }),
    bringRun: async (project_id, task_id, about) => {
      const rows = rowsOfRun({ project_id, task_id, ...about })
      await bench.bring(rows)
      return rows.at(-1)?.trace_id ?? ''
    },
    bringRuns: (project_id, task_ids, about) =>
      bench.bring(task_ids.flatMap((task_id) => rowsOfRun({ project_id, task_id, ...about }))),
    endRun: (run_id, claims) => endRun(db, run_id, claims),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await bench[Symbol.asyncDispose]()
    },
  }
}

function etagIn(headers: object): string | undefined {
  return (headers as { etag?: string }).etag
}

function rowsOfRun(about: RunAbout & { project_id: string; task_id: string }): Observation[] {
  const { project_id, task_id, task_name = '', answer = 'The invoice is over $40.' } = about
  const { start_time, name = `${project_id} ${task_id}` } = about
  return agentRun(name, {
    ...{ project_id, task_id, task_name, tools: ['get_invoice'] },
    ...(start_time !== undefined && { start_time }),
  })
    .user('What does the invoice say?')
    .tool({ name: 'get_invoice', args: { id: 7 } }, 'Invoice 7: $40')
    .assistant(answer)
    .observations()
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Verifiers of all kinds: free, priced with options, and unavailable. */
function testVerifiers(): VerificationRoutesDeps['verifiers'] {
  const open = () => Promise.reject(new Error('not opened in this test'))
  const verifiers: Verifier[] = [
    {
      ...{ name: 'kb', description: 'Looks claims up.', cost: 'free', open },
      options: z.object({}),
      unavailable: () => undefined,
      estimate: () => ({ calls: 0, nano_dollars: 0n }),
    },
    {
      ...{ name: 'web', description: 'Searches the web.', cost: 'search', open },
      options: z.object({ domains_min: z.int().min(2).max(5).default(2) }),
      unavailable: () => undefined,
      estimate: (claims) => ({ calls: claims, nano_dollars: BigInt(claims) * 10_000_000n }),
    },
    {
      ...{ name: 'multi_model', description: 'Asks models.', cost: 'model', open },
      options: z.object({}),
      unavailable: () => 'No model is configured.',
      estimate: (claims) => ({ calls: claims, nano_dollars: BigInt(claims) * 50_000_000n }),
    },
  ]
  return new Map(verifiers.map((verifier) => [verifier.name, verifier]))
}

async function endRun(db: RunsDb, run_id: string, claims: readonly EndedClaim[]): Promise<void> {
  const run = await db
    .selectFrom('verification_runs')
    .selectAll()
    .where('id', '=', run_id)
    .executeTakeFirstOrThrow()
  const { project_id, trace_id } = run
  const rows = claims.map(({ text, verdict, results }, position) => ({
    ...{ id: newId(), run_id, project_id, trace_id, position, text, verdict },
    ...{ starts_at: position * 100, ends_at: position * 100 + text.length, kind: 'sentence' },
    digest: digestOf(text),
    results: toResults(results ?? [{ verifier: 'kb', verdict, confidence: 0.9 }]),
  }))
  const trust = computeTrust(rows, {})
  const fused = new Map(trust.claims.map((claim) => [claim.id, claim]))
  for (const row of rows) {
    const { probability = null, weight = 0 } = fused.get(row.id) ?? {}
    const values = { ...row, probability, weight, checked_values: '[]' }
    await db
      .insertInto('verification_claims')
      .values({ ...values, results: JSON.stringify(row.results) })
      .execute()
  }
  const counts = Object.entries(Object.groupBy(claims, ({ verdict }) => verdict))
  await db
    .updateTable('verification_runs')
    .set({
      ...{ state: 'verified', trust_score: trust.score, claims: claims.length },
      trust: JSON.stringify({ ...trust, calibrations: {} }),
      counts: JSON.stringify(
        Object.fromEntries(counts.map(([name, some]) => [name, some?.length])),
      ),
      context: JSON.stringify({ sources: 2, chars: 30, gaps: [] }),
      ...{ started_at: new Date(), ended_at: new Date() },
    })
    .where('id', '=', run_id)
    .execute()
}

function toResults(results: EndedClaim['results']): StoredResult[] {
  return (results ?? []).map((result) => ({
    ...{ ...result, method: 'words', note: `${result.verifier}: ${result.verdict}` },
    evidence: [],
  }))
}
