import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnswerContext } from '../../src/capabilities/verification/contract.ts'
import { insertDocument } from '../../src/capabilities/verification/knowledge-base/documents/change-store.ts'
import { indexText } from '../../src/capabilities/verification/knowledge-base/documents/index-text.ts'
import {
  planSearch,
  storedTermsOf,
} from '../../src/capabilities/verification/knowledge-base/retrieval/plan-search.ts'
import { searchChunks } from '../../src/capabilities/verification/knowledge-base/retrieval/search-chunks.ts'
import { countChunks } from '../../src/capabilities/verification/knowledge-base/retrieval/store.ts'
import { createKbVerifier } from '../../src/capabilities/verification/verifiers/kb.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessTables,
  migrateRelational,
  openRelational,
  sql,
  startEmbeddedPostgres,
  type VerificationTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { usageOf } from '../process-usage.ts'

const chunks_min = 10_000
const claims_count = 30
const vocabulary_size = 30_000

/** Measures verifier `kb`: 30 claims against 10,000 chunks. `node bench/verification/knowledge.ts` */
async function measureKnowledge(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'knowledge-'))
  const logger = createLogger({ role: 'bench', level: 'silent' })
  const postgres = await startEmbeddedPostgres({ directory, logger })
  await migrateRelational({ url: postgres.url, logger })
  const relational = openRelational<VerificationTables & AccessTables>({
    scope: allTenants,
    url: postgres.url,
    pool_max: 1,
    connect_timeout_ms: 5_000,
    logger,
    statement_timeout_ms: 60_000,
  })
  try {
    const { db } = relational
    const [organization_id, project_id] = [newId(), newId()]
    await db.insertInto('organizations').values({ id: organization_id, name: 'o' }).execute()
    await db.insertInto('projects').values({ id: project_id, organization_id, name: 'p' }).execute()
    await loadChunks(db, project_id)
    // As the server does a minute after such a change.
    await relational.pool.query('vacuum analyze')
    const claims = Array.from({ length: claims_count }, (_, at) => sentenceAt(at * 977 + 13))
    await measureSearches(db, project_id, claims)
    await measureVerifier(db, project_id, claims)
  } finally {
    await relational.close()
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

type Db = Parameters<typeof searchChunks>[0]

async function loadChunks(db: Db, project_id: string): Promise<void> {
  const limits = {
    kb_document_chunks_max: 20_000,
    kb_project_chunks_max: 200_000,
    kb_project_bytes_max: 1e9,
    kb_project_facts_max: 10_000,
  }
  const [started_ms, perDocument] = [performance.now(), 2_000]
  let chunks = 0
  for (let document = 0; chunks < chunks_min; document += 1) {
    const sentences = Array.from({ length: perDocument * 3 }, (_, at) =>
      sentenceAt(document * perDocument * 3 + at),
    )
    const content = sentences.join(' ')
    const indexed = indexText({ format: 'text', title: 'Terms', content, chunks_max: 20_000 })
    chunks += indexed.chunks
    const row = {
      project_id,
      name: `d${document}`,
      title: 'Terms',
      format: 'text' as const,
      url: null,
      content,
      indexed,
      digest: '',
      bytes: content.length,
      now: new Date().toISOString(),
      by: 'bench',
    }
    await insertDocument(db, row, limits)
  }
  const elapsed_ms = performance.now() - started_ms
  console.log(`${chunks} chunks split and stored: ${(elapsed_ms / 1_000).toFixed(1)} s`)
}

async function measureSearches(db: Db, project_id: string, claims: string[]): Promise<void> {
  const times: number[] = []
  const before_ms = await storeUsage(db)
  for (const text of claims) {
    const started_ms = performance.now()
    await searchChunks(db, { project_id, questions: [{ text }], limit: 20 })
    times.push(performance.now() - started_ms)
  }
  const each_ms = ((await storeUsage(db)) - before_ms) / claims.length
  console.log(`a claim alone: CPU of the store ${each_ms.toFixed(1)} ms`)
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(1)
  console.log(`a claim alone: median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms`)
  const questions = claims.map((text) => ({ text }))
  const started_ms = performance.now()
  await searchChunks(db, { project_id, questions, limit: 20 })
  const together_ms = performance.now() - started_ms
  console.log(`${claims.length} claims together: ${together_ms.toFixed(0)} ms`)
  const frequencies = await countChunks(db, project_id, storedTermsOf(questions))
  const plans = planSearch(questions, { frequencies, chunks: chunks_min })
  const terms = plans.flatMap((plan) => plan.terms)
  const read = terms.filter(({ finds }) => finds).map(({ term }) => frequencies.get(term) ?? 0)
  const postings = read.reduce((sum, n) => sum + n, 0)
  console.log(`${terms.length} terms, ${postings} postings read`)
}

async function measureVerifier(db: Db, project_id: string, claims: string[]): Promise<void> {
  const verifier = createKbVerifier({ db, embedder: undefined, estimateJudge: undefined })
  const text = Array.from({ length: 300 }, (_, at) => sentenceAt(at * 31)).join(' ')
  const place = { trace_id: newId(), observation_id: 'o' }
  const seen = [{ source: 'tool 0', role: 'tool', text, place, is_complete: true, digest: '' }]
  const answer = {
    project_id,
    question: 'Which terms apply to parcels?',
    seen,
    models: [],
    gaps: [],
  }
  const signal = new AbortController().signal
  for (const round of ['first', 'second', 'third']) {
    const [started_ms, cpu] = [performance.now(), process.cpuUsage()]
    const before = await storeUsage(db)
    const context = { run_id: 'r', answer: answer as unknown as AnswerContext, judge: undefined }
    const paid = () => Promise.reject(new Error('nothing is paid'))
    const check = await verifier.open({ ...context, paid }, verifier.options.parse({}), signal)
    const results = await Promise.all(
      claims.map((claim) => check({ text: claim, at: [0, claim.length], values: [] }, signal)),
    )
    const { user, system } = process.cpuUsage(cpu)
    const counts = Object.entries(Object.groupBy(results, ({ verdict }) => verdict))
    const verdicts = counts.map(([verdict, all]) => `${all?.length} ${verdict}`).join(', ')
    const cpu_ms = ((user + system) / 1_000).toFixed(0)
    const store_ms = (await storeUsage(db)) - before
    const elapsed = (performance.now() - started_ms).toFixed(0)
    console.log(
      `${round} run of ${claims.length} claims: ${elapsed} ms, CPU ${cpu_ms} ms, of the store ${store_ms} ms (${verdicts})`,
    )
  }
}

/** Returns the processor time of the one connection to the store. */
async function storeUsage(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return (await usageOf(rows[0]?.pid ?? 0)).cpu_ms
}

/** Returns a sentence whose words have the frequencies of a language (Zipf), with a number. */
function sentenceAt(at: number): string {
  const words = Array.from({ length: 18 }, (_, place) => wordAt(hashOf(at * 31 + place)))
  return `${words[0]?.replace(/^./, (letter) => letter.toUpperCase())} ${words.slice(1).join(' ')} costs ${hashOf(at) % 900} euros.`
}

function wordAt(hash: number): string {
  const rank = Math.floor(vocabulary_size ** ((hash % 100_000) / 100_000))
  return `word${rank.toString(36)}x`
}

function hashOf(value: number): number {
  return Math.imul(value ^ (value >>> 15), 2_654_435_761) >>> 1
}

await measureKnowledge()
