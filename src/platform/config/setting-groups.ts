import type { z } from 'zod'
import {
  accessSettings,
  knowledgeSettings,
  mailSettings,
  querySettings,
  secretSettings,
} from './settings/api-settings.ts'
import { cliSettings, smokeSettings } from './settings/client-settings.ts'
import {
  costSettings,
  ingestSettings,
  otlpSettings,
  proxySettings,
  recordingSettings,
} from './settings/edge-settings.ts'
import { operatorKeySettings, operatorSettings } from './settings/operator-settings.ts'
import {
  embeddedSettings,
  folderSettings,
  httpSettings,
  processSettings,
} from './settings/process-settings.ts'
import {
  blobsSettings,
  columnarSettings,
  queueSettings,
  relationalSettings,
} from './settings/store-settings.ts'
import { verificationSettings } from './settings/verification-settings.ts'
import {
  auditSettings,
  certificationSettings,
  checkpointSettings,
  jobSettings,
  notificationSettings,
  retentionSettings,
  workerSettings,
} from './settings/worker-settings.ts'

/** The roles, and the command line, which is not a role. */
export const allConfigured = [
  'proxy',
  'api',
  'worker',
  'migrate',
  'operator',
  'smoke-test',
  'all',
  'cli',
] as const
export type Configured = (typeof allConfigured)[number]

/** Declares a group of settings: its heading in the reference, and the roles that read it. */
function group<S extends Record<string, z.ZodType>, R extends Configured>(
  heading: string,
  settings: S,
  roles: readonly R[],
) {
  return { heading, settings, roles }
}

/** All groups of settings, in the order of the reference page. */
export const settingGroups = {
  process: group('Every process', processSettings, [
    'proxy',
    'api',
    'worker',
    'migrate',
    'operator',
    'smoke-test',
    'all',
  ]),
  http: group('HTTP', httpSettings, ['proxy', 'api', 'all']),
  proxy: group('Proxy', proxySettings, ['proxy', 'all']),
  otlp: group('OTLP receiver', otlpSettings, ['proxy', 'all']),
  ingest: group('Canonical ingest', ingestSettings, ['api', 'all']),
  cost: group('Costs of calls', costSettings, ['proxy', 'worker', 'all']),
  recording: group('Recording', recordingSettings, ['proxy', 'api', 'all']),
  relational: group('PostgreSQL', relationalSettings, ['proxy', 'api', 'worker', 'migrate', 'all']),
  columnar: group('ClickHouse', columnarSettings, ['api', 'worker', 'migrate', 'all']),
  queue: group('Queue', queueSettings, ['proxy', 'api', 'worker', 'migrate', 'all']),
  blobs: group('Archives', blobsSettings, ['api', 'worker', 'all']),
  worker: group('Worker', workerSettings, ['worker', 'all']),
  job: group('Jobs and retention', jobSettings, ['worker', 'all']),
  retention: group('Jobs and retention', retentionSettings, ['api', 'worker', 'all']),
  checkpoint: group('Audit', checkpointSettings, ['api', 'worker', 'all']),
  audit: group('Audit', auditSettings, ['worker', 'all']),
  verification: group('Verification', verificationSettings, ['api', 'worker', 'all']),
  certification: group('Certification', certificationSettings, ['worker', 'all']),
  notification: group('Notifications', notificationSettings, ['proxy', 'api', 'worker', 'all']),
  secret: group('Sign-in and keys', secretSettings, ['api', 'worker', 'migrate', 'all']),
  access: group('Sign-in and keys', accessSettings, ['api', 'migrate', 'all']),
  mail: group('Mail', mailSettings, ['api', 'worker', 'all']),
  operator_key: group('Key of the operator', operatorKeySettings, ['migrate', 'operator', 'all']),
  operator: group('Operator', operatorSettings, ['operator']),
  query: group('Queries', querySettings, ['api', 'all']),
  knowledge: group('Knowledge base', knowledgeSettings, ['api', 'all']),
  smoke: group('Smoke test', smokeSettings, ['smoke-test']),
  folder: group('One machine', folderSettings, ['proxy', 'api', 'all']),
  embedded: group('One machine', embeddedSettings, ['all']),
  cli: group('Command line', cliSettings, ['cli']),
}
type Groups = typeof settingGroups
type Group = keyof Groups

/** The values of the settings of some groups. */
export type Settings<G extends Group> = Values<Groups[G]['settings']>

type Values<S> = { [Name in S extends S ? keyof S : never]: ValueIn<S, Name> }
type ValueIn<S, Name extends PropertyKey> =
  S extends Readonly<Record<Name, z.ZodType<infer Value>>> ? Value : never
