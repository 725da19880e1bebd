import { z } from 'zod'
import {
  accessSettings,
  blobsSettings,
  columnarSettings,
  embeddedSettings,
  httpSettings,
  ingestSettings,
  jobSettings,
  otlpSettings,
  processSettings,
  proxySettings,
  querySettings,
  queueSettings,
  recordingSettings,
  relationalSettings,
  taskSettings,
  workerSettings,
} from './settings/index.ts'

const spoolDirectory = { data_directory: embeddedSettings.data_directory }

/** One schema per role: the settings that it reads, and no others. */
export const roleSchemas = {
  proxy: z.object({
    ...processSettings,
    ...httpSettings,
    ...proxySettings,
    ...otlpSettings,
    ...recordingSettings,
    ...relationalSettings,
    ...queueSettings,
    ...spoolDirectory,
  }),
  api: z.object({
    ...processSettings,
    ...httpSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...accessSettings,
    ...taskSettings,
    ...querySettings,
    ...ingestSettings,
    ...recordingSettings,
    ...queueSettings,
    ...blobsSettings,
    ...spoolDirectory,
    proxy_key_cache_ttl_ms: proxySettings.proxy_key_cache_ttl_ms,
  }),
  worker: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
    ...workerSettings,
    ...jobSettings,
    ...blobsSettings,
  }),
  migrate: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...accessSettings,
  }),
  all: z.object({
    ...processSettings,
    ...httpSettings,
    ...proxySettings,
    ...otlpSettings,
    ...recordingSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
    ...workerSettings,
    ...jobSettings,
    ...accessSettings,
    ...taskSettings,
    ...querySettings,
    ...ingestSettings,
    ...embeddedSettings,
    ...blobsSettings,
  }),
} as const

export type Role = keyof typeof roleSchemas
export type RoleConfig<R extends Role> = z.output<(typeof roleSchemas)[R]>
