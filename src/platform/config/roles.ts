import { z } from 'zod'
import {
  accessSettings,
  blobsSettings,
  cliSettings,
  columnarSettings,
  embeddedSettings,
  httpSettings,
  ingestSettings,
  jobSettings,
  judgeSettings,
  operatorKeySettings,
  operatorSettings,
  otlpSettings,
  processSettings,
  proxySettings,
  querySettings,
  queueSettings,
  recordingSettings,
  relationalSettings,
  smokeSettings,
  taskSettings,
  workerSettings,
} from './settings/index.ts'

const spoolDirectory = { data_directory: embeddedSettings.data_directory }

/** The settings of each role. */
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
    ...judgeSettings,
    ...ingestSettings,
    ...recordingSettings,
    ...queueSettings,
    ...blobsSettings,
    ...spoolDirectory,
    proxy_key_cache_ttl_ms: proxySettings.proxy_key_cache_ttl_ms,
    retention_hour: jobSettings.retention_hour,
  }),
  worker: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
    ...workerSettings,
    ...jobSettings,
    ...judgeSettings,
    ...blobsSettings,
  }),
  migrate: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...accessSettings,
    ...operatorKeySettings,
  }),
  operator: z.object({
    ...processSettings,
    ...operatorSettings,
    ...operatorKeySettings,
  }),
  'smoke-test': z.object({
    ...processSettings,
    ...smokeSettings,
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
    ...judgeSettings,
    ...accessSettings,
    ...operatorKeySettings,
    ...taskSettings,
    ...querySettings,
    ...ingestSettings,
    ...embeddedSettings,
    ...blobsSettings,
  }),
  /** The command line, which is not a role. */
  cli: z.object(cliSettings),
} as const

/** The roles and the command line. */
export type Configured = keyof typeof roleSchemas
export type Role = Exclude<Configured, 'cli'>
export type RoleConfig<R extends Configured> = z.output<(typeof roleSchemas)[R]>
