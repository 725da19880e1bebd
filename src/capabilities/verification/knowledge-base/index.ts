import type { Route } from '../../../platform/http/index.ts'
import { getDocument, putDocument, removeDocument } from './documents/document.ts'
import { createDocument, listDocuments } from './documents/documents.ts'
import { searchDocuments } from './documents/search.ts'
import { getVersion, listVersions } from './documents/versions.ts'
import { removeFact } from './facts/fact.ts'
import { listFacts, putFacts } from './facts/facts.ts'
import type { KnowledgeDeps } from './knowledge-base.ts'

export { embeddingsChore } from './embeddings/embed-chunks.ts'
export {
  createIndexer,
  type KnowledgeDb,
  type KnowledgeDeps,
} from './knowledge-base.ts'

/** The routes of the knowledge base: documents and facts that claims are checked against. */
export function knowledgeBaseRoutes(deps: KnowledgeDeps): Route[] {
  return [
    createDocument(deps),
    listDocuments(deps),
    searchDocuments(deps),
    getDocument(deps),
    putDocument(deps),
    removeDocument(deps),
    listVersions(deps),
    getVersion(deps),
    putFacts(deps),
    listFacts(deps),
    removeFact(deps),
  ]
}
