export { auditOf } from './audited-routes.ts'
export { acceptedCoding } from './compress-answers.ts'
export { frontPageRoute } from './front-page.ts'
export { AddressUnavailable, addressTaken, assertAddressFree } from './listen-error.ts'
export { createManagementServer, type HealthCheck, type ManagementServer } from './management.ts'
export { requestIdFrom } from './node-server.ts'
export { openapiDocument, openapiRoute } from './openapi.ts'
export { errorsOf } from './openapi-responses.ts'
export { definePage, pageHeaders } from './page.ts'
export { answerClientError, discardRest } from './problem-reply.ts'
export { createRateLimiter, headersFrom, type RateLimiter } from './rate-limit.ts'
export {
  Answer,
  type AuthoriseAgain,
  defineRawRoute,
  defineRoute,
  eventsMediaType,
  linesMediaType,
  type PathAlias,
  type RawRoute,
  type RequestHeaders,
  type Route,
} from './route.ts'
export {
  type Authorize,
  admitsBrowsers,
  admitsOperator,
  type BrowserRequest,
  type Caller,
  type Credentials,
  keyScopesOf,
  neededFor,
  type RouteAccess,
  type RouteAuth,
  type RouteScope,
  requesterOf,
} from './route-access.ts'
export {
  assertVersion,
  changedSince,
  etagOf,
  type IdempotencyStore,
  ifMatchHeader,
  type KeptReply,
  versionToReplace,
  writeIfMatch,
} from './safe-writes.ts'
export { securityHeaderList, securityHeaders } from './security-headers.ts'
export {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from './server.ts'
export { isUpgrade } from './socket-request.ts'
