import { isUuid } from '../../../kernel/ids.ts'
import { type ProblemCode, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Kysely, Transaction, VerificationTables } from '../../../platform/relational/index.ts'
import { type AnsweringThread, createAnsweringThread } from '../../../platform/threads/index.ts'
import type { IndexedText, TextToIndex } from './documents/index-text.ts'

export type KnowledgeDb = Kysely<VerificationTables>
export type KnowledgeTransaction = Transaction<VerificationTables>

/** Limits of the knowledge base. Above them, a write answers 409 `knowledge_base_full`. */
export type KnowledgeLimits = {
  /** Maximum chunks of a document. */
  kb_document_chunks_max: number
  /** Maximum chunks of a project. */
  kb_project_chunks_max: number
  /** Maximum bytes of the kept versions of a project. */
  kb_project_bytes_max: number
  /** Maximum facts of a project. */
  kb_project_facts_max: number
}

/** What the routes of the knowledge base work with. */
export type KnowledgeDeps = {
  db: KnowledgeDb
  clock: Clock
  indexer: AnsweringThread<TextToIndex, IndexedText>
  limits: KnowledgeLimits
}

const index_ms_max = 60_000
const waitingDocuments_max = 20

/** Creates the thread that splits documents: a document of 8 MiB takes seconds. */
export function createIndexer(): KnowledgeDeps['indexer'] {
  return createAnsweringThread({
    file: new URL('./documents/index-thread.ts', import.meta.url),
    answer_ms_max: index_ms_max,
    waiting: {
      max: waitingDocuments_max,
      refusal: () =>
        problem('rate_limited', { detail: 'Too many documents at once', retry_after_s: 5 }),
    },
    failed: (cause) =>
      problem('invalid_request', {
        detail: `/content: not indexed within ${index_ms_max / 1000} s. Split the document.`,
        faults: [{ pointer: '/content', detail: 'took too long to index' }],
        cause,
      }),
  })
}

/** Returns an id of a path; throws the error of a missing object when it is no UUID. */
export function checkId(id: string, code: ProblemCode, name: string): string {
  if (isUuid(id)) return id
  throw problem(code, { detail: `${name}: got "${id.slice(0, 80)}", expected an id of a list` })
}
