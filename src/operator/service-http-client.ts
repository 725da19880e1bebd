import type { ServiceClient } from './service-client.ts'

export type ServiceHttpOptions = {
  /** `http://looptrace-api:4000`: without a path. */
  url: string
  /** The operator's key; asked for each request, so that a rotated file is read anew. */
  key: () => Promise<string>
  /** From the request to the end of its answer. */
  timeout_ms: number
  /** Requests at the same time; further ones wait. */
  requests_max: number
}

/** `createServiceClient` of this file is of this type. */
export type CreateServiceClient = (options: ServiceHttpOptions) => ServiceClient
