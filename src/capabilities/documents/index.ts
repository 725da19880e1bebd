export {
  type ChangeOf,
  createDocument,
  type DocumentRules,
} from './change-document.ts'
export { namedDocumentRoutes } from './named-documents.ts'
export { type DocumentFilter, type DocumentPage, NamedTable } from './named-table.ts'
export { projectDocumentRoutes } from './project-document.ts'
export { type EffectiveDocument, ProjectTable } from './project-table.ts'
