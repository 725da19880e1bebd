export { projectDocumentRoutes } from './project-document.ts'
export { type EffectiveDocument, ProjectTable } from './project-table.ts'
