export { accessSettings, querySettings, taskSettings } from './api-settings.ts'
export { cliSettings, smokeSettings } from './client-settings.ts'
export { ingestSettings, otlpSettings, proxySettings, recordingSettings } from './edge-settings.ts'
export { operatorKeySettings, operatorSettings } from './operator-settings.ts'
export { embeddedSettings, httpSettings, processSettings } from './process-settings.ts'
export {
  blobsSettings,
  columnarSettings,
  queueSettings,
  relationalSettings,
} from './store-settings.ts'
export { jobSettings, judgeSettings, workerSettings } from './worker-settings.ts'
