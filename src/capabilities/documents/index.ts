export {
  type ChangeOf,
  type DocumentRules,
  DocumentWriter,
} from './change-document.ts'
export { namedDocumentRoutes } from './named-documents.ts'
export { type DocumentFilter, NamedTable } from './named-table.ts'
export { projectDocumentRoutes } from './project-document.ts'
export { type EffectiveDocument, ProjectTable } from './project-table.ts'
