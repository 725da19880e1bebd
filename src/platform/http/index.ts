export { discardRest } from './discard-rest.ts'
export { frontPageRoute } from './front-page.ts'
export type { IdempotencyStore, KeptReply } from './idempotency.ts'
export {
  changedSince,
  etagOf,
  ifMatchHeader,
  versionToReplace,
  writeIfMatch,
} from './if-match.ts'
export { AddressUnavailable, addressTaken, assertAddressFree } from './listen-error.ts'
export { createManagementServer, type HealthCheck, type ManagementServer } from './management.ts'
export { openapiDocument, openapiRoute } from './openapi.ts'
export { errorsOf } from './openapi-responses.ts'
export { answerClientError } from './problem-reply.ts'
export { createRateLimiter, type RateDecision, type RateLimiter } from './rate-limit.ts'
export { requestIdFrom } from './request-id.ts'
export {
  Answer,
  type Authorize,
  type Caller,
  type Credentials,
  defineRawRoute,
  defineRoute,
  keyScopesOf,
  letsOperatorIn,
  neededFor,
  type RawRoute,
  type RequestHeaders,
  type Route,
  type RouteAccess,
  type RouteAuth,
  type RouteKeyScope,
  type RouteScope,
} from './route.ts'
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts'
