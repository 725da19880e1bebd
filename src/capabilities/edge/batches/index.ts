export type { CaptureBatch, IngestRequestDeps, IngestRequestSettings } from './deps.ts'
export { ingestRequestRoutes } from './ingest-request-routes.ts'
export { markProcessing, settleRequests } from './settle-requests.ts'
export { deleteExpiredIngestRequests } from './store.ts'
