import { isUuid } from '../../../kernel/ids.ts'
import { type ProblemCode, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Kysely, Transaction, VerificationTables } from '../../../platform/relational/index.ts'
import { createAnsweringThread } from '../../../platform/threads/index.ts'
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

/** Dependencies of the routes of the knowledge base. */
export type KnowledgeDeps = {
  db: KnowledgeDb
  clock: Clock
  indexer: DocumentIndexer
  limits: KnowledgeLimits
}

/** Splits documents in a thread. */
export type DocumentIndexer = {
  /**
   * Throws `rate_limited` when many documents wait, and `invalid_request` when it takes too long.
   */
  index(project_id: string, text: TextToIndex): Promise<IndexedText>
  close(): Promise<void>
}

const index_ms_max = 60_000
const maxWaitingDocuments = 20
/** Maximum waiting documents of a project, so that one project does not delay the others. */
const maxWaitingOfProject = 3

/** Creates the thread that splits documents: a document of 8 MiB takes seconds. */
export function createIndexer(): DocumentIndexer {
  const thread = createAnsweringThread<TextToIndex, IndexedText>({
    file: new URL('./documents/index-thread.ts', import.meta.url),
    answer_ms_max: index_ms_max,
    waiting: { max: maxWaitingDocuments, refusal: tooMany },
    failed: tooLong,
  })
  const waiting = new Map<string, number>()
  return {
    index: async (project_id, text) => {
      const before = waiting.get(project_id) ?? 0
      if (before >= maxWaitingOfProject) throw tooMany()
      waiting.set(project_id, before + 1)
      try {
        return await thread.ask(text)
      } finally {
        const left = (waiting.get(project_id) ?? 1) - 1
        if (left > 0) waiting.set(project_id, left)
        else waiting.delete(project_id)
      }
    },
    close: thread.close,
  }
}

function tooMany() {
  const detail = 'Too many documents at once. Retry when earlier ones are indexed.'
  return problem('rate_limited', { detail, retry_after_s: 2 })
}

function tooLong(cause: unknown) {
  return problem('invalid_request', {
    detail: `/content: not indexed within ${index_ms_max / 1000} s. Split the document.`,
    faults: [{ pointer: '/content', detail: 'took too long to index' }],
    cause,
  })
}

/** Returns an id of a path; throws the error of a missing object when it is not a UUID. */
export function checkId(id: string, code: ProblemCode, name: string): string {
  if (isUuid(id)) return id
  throw problem(code, { detail: `${name}: got "${id.slice(0, 80)}", expected an id from a list` })
}
