import { z } from 'zod'
import {
  accessSettings,
  knowledgeSettings,
  mailSettings,
  querySettings,
  taskSettings,
} from './settings/api-settings.ts'
import { certificationSettings } from './settings/certification-settings.ts'
import { cliSettings, smokeSettings } from './settings/client-settings.ts'
import {
  costSettings,
  ingestSettings,
  otlpSettings,
  proxySettings,
  recordingSettings,
} from './settings/edge-settings.ts'
import { operatorKeySettings, operatorSettings } from './settings/operator-settings.ts'
import { embeddedSettings, httpSettings, processSettings } from './settings/process-settings.ts'
import {
  blobsSettings,
  columnarSettings,
  queueSettings,
  relationalSettings,
} from './settings/store-settings.ts'
import { verificationSettings } from './settings/verification-settings.ts'
import {
  auditSettings,
  jobSettings,
  notificationSettings,
  workerSettings,
} from './settings/worker-settings.ts'

const spoolDirectory = { data_directory: embeddedSettings.data_directory }

/** The settings of each role. */
export const roleSchemas = {
  proxy: z.object({
    ...processSettings,
    ...httpSettings,
    ...proxySettings,
    ...notificationSettings,
    ...otlpSettings,
    ...costSettings,
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
    ...mailSettings,
    ...notificationSettings,
    ...taskSettings,
    ...querySettings,
    ...knowledgeSettings,
    ...verificationSettings,
    ...ingestSettings,
    ...recordingSettings,
    ...queueSettings,
    ...blobsSettings,
    ...spoolDirectory,
    proxy_key_cache_ttl_ms: proxySettings.proxy_key_cache_ttl_ms,
    retention_hour: jobSettings.retention_hour,
    audit_checkpoint_sinks: auditSettings.audit_checkpoint_sinks,
  }),
  worker: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
    ...costSettings,
    ...workerSettings,
    ...auditSettings,
    ...jobSettings,
    ...verificationSettings,
    ...certificationSettings,
    ...blobsSettings,
    ...taskSettings,
    ...mailSettings,
    ...notificationSettings,
    secret_key: accessSettings.secret_key,
  }),
  migrate: z.object({
    ...processSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
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
    ...costSettings,
    ...recordingSettings,
    ...relationalSettings,
    ...columnarSettings,
    ...queueSettings,
    ...workerSettings,
    ...auditSettings,
    ...jobSettings,
    ...verificationSettings,
    ...accessSettings,
    ...mailSettings,
    ...notificationSettings,
    ...operatorKeySettings,
    ...taskSettings,
    ...querySettings,
    ...knowledgeSettings,
    ...certificationSettings,
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
