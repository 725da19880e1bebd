import { hash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shareTerms } from '../../src/capabilities/verification/knowledge/library.ts'
import { buildIndex, searchIndex } from '../../src/capabilities/verification/knowledge/postings.ts'
import { replaceDocument } from '../../src/capabilities/verification/knowledge-base/documents/change-store.ts'
import { indexText } from '../../src/capabilities/verification/knowledge-base/documents/index-text.ts'
import {
  planSearch,
  storedTermsOf,
} from '../../src/capabilities/verification/knowledge-base/retrieval/plan-search.ts'
import { searchChunks } from '../../src/capabilities/verification/knowledge-base/retrieval/search-chunks.ts'
import {
  countChunks,
  rankChunks,
  readIndexSize,
} from '../../src/capabilities/verification/knowledge-base/retrieval/store.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { type KnowledgeApi, openKnowledgeApi } from '../support/knowledge-api.ts'

let api: KnowledgeApi

beforeAll(async () => {
  api = await openKnowledgeApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const word = fc.constantFrom('ferry', 'car', 'night', 'boats', 'Zürich', '12', '1,200', 'the', 'of')
const sentence = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(' '))
const content = fc.array(sentence, { minLength: 1, maxLength: 12 }).map((all) => all.join('. '))
const question = fc.record({
  text: fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
  context: fc.option(sentence, { nil: undefined }),
})

/** Returns the index of the memory for the stored chunks; ids sort as numbers do. */
async function naiveIndex(project_id: string) {
  const { db } = api
  const chunks = await db
    .selectFrom('kb_chunks')
    .where('project_id', '=', project_id)
    .selectAll()
    .execute()
  return buildIndex(
    chunks.map(({ id, context, text }) => ({
      id: String(id).padStart(12, '0'),
      text: `${context}\n${text}`,
    })),
  )
}

test('BM25 in SQL finds what BM25 in memory finds, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 1, maxLength: 3 }),
      fc.array(question, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 30 }),
      async (contents, questions, limit) => {
        const [project_id, other] = [await api.newProject(), await api.newProject()]
        for (const [at, text] of contents.entries()) {
          await api.add(project_id, { name: `ferry ${at}`, content: text })
        }
        await api.add(other, { name: 'ferry', content: contents.join(' ') })
        const index = await naiveIndex(project_id)
        const found = await searchChunks(api.deps.db, { project_id, questions, limit })
        for (const [at, asked] of questions.entries()) {
          const naive = searchIndex(index, shareTerms(asked), undefined, 1_000)
          const hits = found[at]?.hits ?? []
          expect(hits).toHaveLength(Math.min(limit, naive.length))
          for (const [place, { score }] of hits.entries()) {
            expect(score).toBeCloseTo(naive[place]?.score ?? Number.NaN, 9)
          }
          // Scores that differ by rounding alone may change places.
          const rounded = naive.map(({ chunk, score }) => ({
            chunk,
            score: Math.round(score * 1e9),
          }))
          const order = rounded.toSorted(
            (one, two) => two.score - one.score || (one.chunk < two.chunk ? -1 : 1),
          )
          const ids = order.slice(0, limit).map(({ chunk }) => Number(chunk))
          expect(hits.map(({ chunk_id }) => chunk_id)).toEqual(ids)
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('when frequent terms find no candidates, they still count in the score', async () => {
  const project_id = await api.newProject()
  const rows = Array.from({ length: 40 }, (_, at) => `Ferry boat ${at} leaves at night.\n`)
  await api.add(project_id, { name: 'times', content: rows.join('') })
  const questions = [{ text: 'night ferry boat 17 and 23' }]
  const { db } = api.deps
  const { chunks, averageLength } = await readIndexSize(db, project_id)
  const frequencies = await countChunks(db, project_id, storedTermsOf(questions))
  const [plan] = planSearch(questions, { frequencies, chunks }, 3)
  const terms = plan?.terms ?? []
  expect(terms.filter(({ finds }) => !finds).map(({ term }) => term)).toContain('ferry')
  const asked = { project_id, averageLength, limit: 20 }
  const [none, hits = [], same] = await rankChunks(db, [[], terms, terms], asked)
  expect(none).toEqual([])
  expect(same).toEqual(hits)
  const naive = searchIndex(
    await naiveIndex(project_id),
    shareTerms(questions[0] ?? { text: '' }),
    undefined,
    100,
  )
  expect(hits).toHaveLength(2)
  for (const [at, { chunk_id, score }] of hits.entries()) {
    expect(chunk_id).toBe(Number(naive[at]?.chunk))
    expect(score).toBeCloseTo(naive[at]?.score ?? 0, 9)
  }
})

/** Sizes of a project as its rows have them. */
async function countedStats(project_id: string) {
  const { rows } = await sql<object>`
    select
      (select count(*) from kb_documents where project_id = ${project_id})::int as documents,
      (select count(*) from kb_chunks where project_id = ${project_id})::int as chunks,
      (select coalesce(sum(terms), 0) from kb_chunks where project_id = ${project_id})::int as terms,
      (select coalesce(sum(v.bytes), 0) from kb_document_versions v
        join kb_documents d on d.id = v.document_id where d.project_id = ${project_id})::int as bytes,
      (select count(*) from kb_facts where project_id = ${project_id})::int as facts
  `.execute(api.db)
  return rows[0]
}

const change = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), slot: fc.nat(2), content }),
  fc.record({ kind: fc.constant('delete' as const), slot: fc.nat(2) }),
  fc.record({ kind: fc.constant('fact' as const), slot: fc.nat(2), value: fc.nat(3) }),
)

test('concurrent changes leave exact sizes, one version of chunks, and the last content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 16 }), async (changes) => {
      const project_id = await api.newProject()
      const ids = new Map<number, string>()
      for (const slot of [0, 1, 2]) {
        const { document_id } = await api.add(project_id, { name: `d${slot}`, content: 'Begin.' })
        ids.set(slot, document_id)
      }
      await Promise.all(
        changes.map(async (each) => {
          const { kind, slot } = each
          const id = ids.get(slot) ?? ''
          if (kind === 'put') return replace({ project_id, id, content: each.content })
          const body = { subject: `s${slot}`, attribute: 'a', value: kind === 'fact' && each.value }
          const { status } =
            kind === 'fact'
              ? await api.call('POST', 'facts', project_id, { body })
              : await api.call('DELETE', `documents/${id}`, project_id)
          return expect([200, 204, 404]).toContain(status)
        }),
      )
      const stats = await api.db
        .selectFrom('kb_stats')
        .where('project_id', '=', project_id)
        .select(['documents', 'chunks', 'terms', 'bytes', 'facts'])
        .executeTakeFirst()
      expect(stats).toEqual(await countedStats(project_id))
      await expectLastVersions(project_id)
    }),
    { numRuns: 15 },
  )
})

/** Replaces a document as the route does, without its thread. */
async function replace(given: { project_id: string; id: string; content: string }) {
  const { content: text, ...key } = given
  const indexed = indexText({ format: 'text', title: 'd', content: text, chunks_max: 1_000 })
  const row = {
    ...{ name: key.id, title: 'd', format: 'text' as const, url: null, content: text, indexed },
    digest: hash('sha256', text),
    bytes: Buffer.byteLength(text),
    ...{ now: new Date().toISOString(), by: 'user:1' },
  }
  const { db, limits } = api.deps
  await replaceDocument(db, { ...key, ...row, is_wanted: () => true }, limits)
}

async function expectLastVersions(project_id: string): Promise<void> {
  const { body } = await api.call('GET', 'documents', project_id)
  for (const { document_id, version, chunks, digest } of body.documents) {
    const stored = await api.db
      .selectFrom('kb_chunks')
      .where('document_id', '=', document_id)
      .select(['version'])
      .execute()
    expect(stored.map((chunk) => chunk.version)).toEqual(Array(chunks).fill(version))
    const path = `documents/${document_id}/versions/${version}`
    expect((await api.call('GET', path, project_id)).body.digest).toBe(digest)
  }
}

test('a deleted project takes its documents, postings and facts with it', async () => {
  const project_id = await api.newProject()
  await api.add(project_id, { name: 'd', content: 'One ferry.' })
  await api.call('POST', 'facts', project_id, {
    body: { subject: 's', attribute: 'a', value: 1 },
  })
  await api.db.deleteFrom('projects').where('id', '=', project_id).execute()
  const tables = ['kb_documents', 'kb_chunks', 'kb_terms', 'kb_facts', 'kb_stats'] as const
  for (const table of tables) {
    const rows = await api.db
      .selectFrom(table)
      .where('project_id', '=', project_id)
      .select('project_id')
      .execute()
    expect(rows, table).toEqual([])
  }
})
